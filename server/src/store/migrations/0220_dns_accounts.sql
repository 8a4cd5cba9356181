-- An operator may have several accounts of a DNS provider, or several keys of one name server: the name of the key tells them apart.

drop index dns_setting_driver;
create unique index dns_setting_driver on "dnsSetting" ("clientID", driver, server, "keyName") where "deletedAt" is null;
