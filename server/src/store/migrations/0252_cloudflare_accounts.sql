-- A token of Cloudflare's says of itself nothing that tells two accounts apart: what its operator notes of it does.
drop index dns_setting_driver;
create unique index dns_setting_driver on "dnsSetting" ("clientID", driver, server, "keyName", (case driver when 'cloudflare' then lower(memo) else '' end)) where "deletedAt" is null;
