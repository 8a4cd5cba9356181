-- Who stood on each line when it was looked at last, and with what each would be answered (server/src/resolution/choose.ts); null: nobody
-- has looked since this came. So it is known who comes to a line and who was there before, and whose addresses are others.
alter table "groupAnswer" add column standing jsonb;
-- As it was called then: the line may be gone. '': as it is called now.
alter table "answerChange" add column "lineName" text not null default '';
