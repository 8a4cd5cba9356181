-- Who really acted, by id: an e-mail may be another's by now. Of lines before this it is no longer told.
alter table audit add column "proxyID" bigint;
