-- A deleted certificate is forgotten while deleted domains still name it, and keeps no key.
alter table domain drop constraint "domain_certificateID_fkey";
alter table domain add constraint "domain_certificateID_fkey" foreign key ("certificateID") references certificate on delete set null;
update certificate set "privateKey" = null where "deletedAt" is not null;
