-- When a node fetched credentials last: whichever server gave them, all of them know that it lives while the bus hears nothing of it.
alter table node add column "credentialsAt" timestamptz;
