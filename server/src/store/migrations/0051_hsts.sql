-- What a domain tells browsers of https.
alter table domain add column hsts jsonb not null
  default '{"enabled": false, "maxAge": 31536000, "includeSubDomains": false, "preload": false}';
