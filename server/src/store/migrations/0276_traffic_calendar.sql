-- The months of an operator as they were while they lasted: what is over keeps its bounds when the operator's clock is another one.
create table "trafficCalendar" (
  "clientID" bigint not null references account,
  year int not null,
  month int not null,
  "startTime" timestamptz not null,
  "endTime" timestamptz not null,
  -- that its days are reckoned in
  timezone text not null,
  -- up to when the figures were there that it was counted of; null: it was not
  "countedTo" timestamptz,
  primary key ("clientID", year, month)
);
insert into "trafficCalendar"
  select t."clientID", t.year, t.month, min(t."startTime"), max(t."endTime"), o.timezone, k."countedAt"
  from "trafficMonth" t join account o on o.id = t."clientID" left join "trafficCount" k on k."clientID" = t."clientID"
  group by t."clientID", t.year, t.month, o.timezone, k."countedAt";
