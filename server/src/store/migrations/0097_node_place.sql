-- Where a node stands, by its operator's word: {name, latitude, longitude}; null: nobody said.
alter table node add column place jsonb;
