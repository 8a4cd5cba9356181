-- Which address has waited longest, and which is being told: asked each second, beside a month of what was told.
create index webhook_delivery_waiting on "webhookDelivery" ("webhookID", "nextAt") where state = 'waiting';
create index webhook_delivery_leased on "webhookDelivery" ("webhookID", "leasedUntil") where "leasedUntil" is not null;
