/** The LOGS stream, as ingest uses it. All streams are defined in bus/streams.ts. */
export { type LogStreamFacts, ensureLogStream } from '../bus/streams.ts';
