-- The purges that a site's document names: those newer than its generation, the newest first. Read at each publication.
create index "purgeTask_generation" on "purgeTask" ("siteID", generation desc, id desc) where kind = 'clear';
