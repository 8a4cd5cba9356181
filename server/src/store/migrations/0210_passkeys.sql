-- Passkeys (WebAuthn) that people sign in by.
create table passkey (
  id bigint generated always as identity primary key,
  "accountID" bigint not null references account,
  name text not null,
  -- base64url, as the authenticator chose it: one of all there are
  "credentialID" text not null,
  -- COSE_Key (RFC 9052 7)
  "publicKey" bytea not null,
  -- what the authenticator counted up to when it was used last; 0: it does not count
  counter bigint not null,
  transports text[] not null default '{}',
  -- the host it is bound to (rpID)
  host text not null,
  "isSynced" boolean not null,
  "createdAt" timestamptz not null default now(),
  "lastUsedAt" timestamptz
);
create unique index passkey_credential on passkey ("credentialID");
create index passkey_account on passkey ("accountID");

-- What authenticators are asked to sign, until one did or it is too late.
create table "passkeyChallenge" (
  hash bytea primary key,
  -- who adds a passkey by it; null: somebody signs in
  "accountID" bigint references account,
  area text,
  "expiredAt" timestamptz not null
);
create index passkey_challenge_account on "passkeyChallenge" ("accountID");
create index passkey_challenge_expired on "passkeyChallenge" ("expiredAt");
