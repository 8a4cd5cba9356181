-- Notes that a document is gone, oldest first (server/src/bus/forget.ts).
create index published_gone on published ("publishedAt") where hash = '';
