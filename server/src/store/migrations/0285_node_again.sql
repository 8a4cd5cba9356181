-- What keeps a node where it is, and as what it is: for a machine that joins again. Each statement of a function sees what was committed
-- until then, so that whoever holds the node's row first is asked after those who put it on a line.
create function node_held(bigint) returns text language plpgsql volatile as $$
begin
  if exists (select from "lineNode" where "nodeID" = $1) then return 'nodeInGroup'; end if;
  if exists (select from "virtualNodeRecord" where "nodeID" = $1 and "deletedAt" is null) then return 'nodeInVirtualNode'; end if;
  return null;
end $$;
