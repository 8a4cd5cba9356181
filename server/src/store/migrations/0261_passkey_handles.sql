-- What authenticators know an account by (WebAuthn 5.4.3): random, and the account's for good. Before, it followed from the key of the
-- installation; those are kept beside it (account/passkey-handles.ts).
create table "passkeyHandle" (
  id bigint generated always as identity primary key,
  "accountID" bigint not null references account,
  -- base64url
  handle text not null
);
create unique index passkey_handle_account on "passkeyHandle" ("accountID", handle);
