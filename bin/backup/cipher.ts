/**
 * An archive under a passphrase: age v1 (age-encryption.org/v1), so that `age --decrypt` opens it where there is no Breakwater at all.
 * Chunks of 64 KB are authenticated one by one and the last one is marked: what was cut or changed is an error, never a shorter file.
 */
import { type FileHandle, open, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Decrypter, Encrypter } from 'age-encryption';
import { backupSaid } from '#contract/system/backup-problems.ts';
import { BrokenArchive } from './tar.ts';

/** How the name of an encrypted archive ends. */
export const encryptedSuffix = '.age';
const begins = Buffer.from('age-encryption.org/v1\n');
/** scrypt with 64 MB: small machines make backups too, and a passphrase has twelve characters at least */
const workFactor = 16;

/** The library speaks the browser's streams, of which Node and the DOM have each their own type. */
const asWeb = (source: AsyncIterable<Uint8Array>) =>
  Readable.toWeb(Readable.from(source)) as unknown as ReadableStream<Uint8Array>;
const fromWeb = (stream: ReadableStream<Uint8Array>) => Readable.fromWeb(stream as never) as AsyncIterable<Uint8Array>;

export async function* encrypted(source: AsyncIterable<Uint8Array>, passphrase: string): AsyncGenerator<Buffer> {
  const encrypter = new Encrypter();
  encrypter.setScryptWorkFactor(workFactor);
  encrypter.setPassphrase(passphrase);
  for await (const part of fromWeb(await encrypter.encrypt(asWeb(source)))) yield Buffer.from(part);
}

/** @throws BrokenArchive where the passphrase is another one, or something was cut or changed */
export async function* decrypted(source: AsyncIterable<Uint8Array>, passphrase: string): AsyncGenerator<Buffer> {
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  let isOpen = false;
  try {
    const opened = await decrypter.decrypt(asWeb(source));
    isOpen = true;
    for await (const part of fromWeb(opened)) yield Buffer.from(part);
  } catch (error) {
    // what the file system says stays as it is
    if ((error as NodeJS.ErrnoException).code) throw error;
    const why = backupSaid(isOpen ? 'damaged' : 'otherPassphrase');
    throw new BrokenArchive(why, { cause: error });
  }
}

/**
 * The archive in a file's bytes. Whether they are encrypted is seen in the bytes that are read, so that nobody changes them in between, and
 * what the file is called says nothing. @throws BrokenArchive where that is not as the passphrase, or its absence, says
 */
export async function* opened(source: AsyncIterable<Buffer>, passphrase: string | undefined): AsyncGenerator<Buffer> {
  const iterator = source[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < begins.length) {
    const next = await iterator.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  const isHidden = head.subarray(0, begins.length).equals(begins);
  if (isHidden && !passphrase) throw new BrokenArchive(backupSaid('noPassphrase'));
  if (!isHidden && passphrase) throw new BrokenArchive(backupSaid('plain'));
  const whole = (async function* () {
    yield head;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  })();
  yield* passphrase ? decrypted(whole, passphrase) : whole;
}

/** Whether a file is encrypted, for a sentence before it is read. */
export async function isEncrypted(path: string): Promise<boolean> {
  // a pipe gives its bytes once, to whoever opens it first
  if (!(await stat(path)).isFile()) return false;
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(begins.length), 0, begins.length, 0);
    return bytesRead === begins.length && buffer.equals(begins);
  } finally {
    await file?.close();
  }
}
