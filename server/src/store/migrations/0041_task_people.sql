-- Whoever removes an account looks for what names it.
create index task_account on task ("accountID") where "accountID" is not null;
create index task_proxy on task ("proxyID") where "proxyID" is not null;
