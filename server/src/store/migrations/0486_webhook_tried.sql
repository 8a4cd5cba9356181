-- Whether an address failed lately is looked up each time that one is chosen.
create index webhook_delivery_tried on "webhookDelivery" ("webhookID") where state = 'waiting' and attempts > 0;
