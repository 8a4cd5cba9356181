-- A row that goes looks for what refers to it, removed rows too.
create index api_token_account on "apiToken" ("accountID");
create index dns_setting_client on "dnsSetting" ("clientID");
create index node_sub_node on "nodeSub" ("nodeID");
create index cname_dns_setting on cname ("dnsSettingID");
