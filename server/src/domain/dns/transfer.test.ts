/** What is believed of a transfer: whose it is, of what, and that all of it is signed (RFC 8945, 5.3.1). */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { DnsProblem } from './driver.ts';
import * as dns from './message.ts';
import { transferred } from './transfer.ts';

const key: dns.Key = { name: 'k', algorithm: 'hmacSHA256', secret: Buffer.from('secret') };
const sized = (bytes: Buffer) => Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes]);
const record = (type: number, data: Buffer) => Buffer.concat([Buffer.from([1, 122, 0, 0, type, 0, 1, 0, 0, 0, 1]), sized(data)]);
const soa = record(6, Buffer.alloc(22));
const a = record(1, Buffer.from([192, 0, 2, 1]));
interface Part {
  records: Buffer[];
  isSigned?: boolean;
  idPlus?: number;
}

/** Answers with these messages. */
async function transfer(parts: readonly Part[], secret = key.secret): Promise<number | string> {
  let last: Buffer;
  let between: Buffer[] = [];
  const answer = (asked: Buffer): Buffer[] => {
    const read = dns.read(Buffer.concat([asked.subarray(0, 2), Buffer.from([0x80, 0]), asked.subarray(4)]));
    const tsig = read.signature!.record.data;
    last = tsig.subarray(tsig.length - 6 - 32, tsig.length - 6);
    return parts.map(({ records, isSigned = true, idPlus = 0 }, n) => {
      const head = Buffer.alloc(12);
      head.writeUInt16BE((asked.readUInt16BE(0) + idPlus) & 0xffff, 0);
      head.writeUInt16BE(0x8000, 2);
      head.writeUInt16BE(records.length, 6);
      const bare = Buffer.concat([head, ...records]);
      if (!isSigned) {
        between.push(bare);
        return bare;
      }
      const time = Buffer.alloc(8);
      time.writeUIntBE(Math.floor(Date.now() / 1000), 0, 6);
      time.writeUInt16BE(300, 6);
      const algorithm = dns.nameBytes('hmac-sha256');
      const whole = Buffer.concat([dns.nameBytes('k'), Buffer.from([0, 255, 0, 0, 0, 0]), algorithm, time, Buffer.alloc(4)]);
      const mac = createHmac('sha256', secret)
        .update(Buffer.concat([sized(last), ...between, bare, n ? time : whole]))
        .digest();
      [last, between] = [mac, []];
      const data = Buffer.concat([algorithm, time, sized(mac), head.subarray(0, 2), Buffer.alloc(4)]);
      const signed = Buffer.concat([bare, dns.nameBytes('k'), Buffer.from([0, 250, 0, 255, 0, 0, 0, 0]), sized(data)]);
      signed.writeUInt16BE(1, 10);
      return signed;
    });
  };
  const socket = new Duplex({
    read() {},
    write(chunk: Buffer, _, done) {
      for (const one of answer(chunk.subarray(2))) this.push(sized(one));
      this.push(null);
      done();
    },
  });
  const asked = { zone: 'z', id: 7, key, host: 'h' };
  // all that is used of it is a stream's
  return transferred(socket as unknown as Socket, asked, one => (one.type === 1 ? one : undefined)).then(
    found => found.length,
    (error: unknown) => (error instanceof DnsProblem ? `${error.trouble} ${error.said?.code}` : String(error)),
  );
}

test('all of it counts when it begins and ends as a zone does and is signed, some messages between aside', async () => {
  assert.equal(await transfer([{ records: [soa, a, soa] }]), 1);
  assert.equal(await transfer([{ records: [soa, a] }, { records: [a], isSigned: false }, { records: [a, soa] }]), 3);
});

test('nothing of it counts where the first or the last is not signed, or by another key', async () => {
  assert.equal(await transfer([{ records: [soa, a, soa], isSigned: false }]), 'credentials transferUnsigned');
  assert.equal(await transfer([{ records: [soa, a] }, { records: [soa], isSigned: false }]), 'credentials transferUnsigned');
  assert.equal(await transfer([{ records: [soa, a], isSigned: false }, { records: [soa] }]), 'credentials transferUnsigned');
  assert.equal(await transfer([{ records: [soa, a, soa] }], Buffer.from('another')), 'credentials transferUnsigned');
  const unsigned = Array.from({ length: 100 }, () => ({ records: [a], isSigned: false }));
  assert.equal(await transfer([{ records: [soa] }, ...unsigned, { records: [soa] }]), 'credentials transferUnsigned');
  assert.equal(await transfer([{ records: [soa] }, ...unsigned.slice(1), { records: [soa] }]), 99);
});

test('nor of what is to another question, of something else, or ends in its midst', async () => {
  assert.equal(await transfer([{ records: [soa, a, soa], idPlus: 1 }]), 'refused otherAnswer');
  assert.equal(await transfer([{ records: [a, soa] }]), 'refused transferOther');
  assert.equal(await transfer([{ records: [soa, a] }]), 'away transferCut');
});
