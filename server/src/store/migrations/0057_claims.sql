-- A new name is looked for among all that others have, the paused ones too, and so are the names above it.
create index domain_claims on domain ("domainName") where "deletedAt" is null;
