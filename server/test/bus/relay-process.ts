/** A relay as a process of its own, for a test that freezes it: says `active` once it works. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { connectServer } from '#server/bus/bus.ts';
import { Signer } from '#server/bus/credentials.ts';
import { startRelay } from '#server/bus/relay.ts';

const { DATABASE_URL: databaseUrl = '', NATS_URL: url = '', NATS_CREDS: creds = '', DOCUMENT_SEED: seed = '' } = process.env;
const nats = await connectServer(url, readFileSync(creds, 'utf8'));
const relay = startRelay({ databaseUrl, nats, signer: new Signer(seed), log: line => process.stderr.write(`${line}\n`) });
while (!relay.active()) await delay(20);
process.stdout.write('active\n');
