-- What a site may have of its own instead of what its product says; null: as the product says, 0: unlimited.
alter table site
  add "domainLimit" int check ("domainLimit" >= 0),
  add "autoSSLLimit" int check ("autoSSLLimit" >= 0),
  add "portLimit" int check ("portLimit" >= 0),
  -- its origins are asked at their backups alone
  add "forceBackup" boolean not null default false;
