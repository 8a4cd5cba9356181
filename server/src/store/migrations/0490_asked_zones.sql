-- Whoever steers writes down until when a zone waits, and woke itself by it to look through the names of all zones of all operators: each time one
-- name was refused again, and without the pause that its provider was to have. Only who asks for a zone now (no time to come) wakes it.
drop trigger resolution_cname on cname;
create trigger resolution_cname after insert or update of "deletedAt", "nameServers", signed, "dnsSettingID" on cname for each statement execute function resolution_names();
create trigger resolution_cname_asked after update of "nextAt" on cname for each row
  when (new."nextAt" is distinct from old."nextAt" and new."nextAt" <= clock_timestamp()) execute function resolution_lines();
