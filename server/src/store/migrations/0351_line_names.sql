-- Lines of a group may swap their names in one change: looked at when all of them have theirs.
drop index line_name;
alter table line add constraint line_name exclude using btree ("groupID" with =, lower(name) with =) where ("groupID" is not null)
  deferrable initially immediate;
