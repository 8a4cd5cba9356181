/** What the fakes of DNS providers share. */
export const keyID = 'key-id-1';
export const secret = 'a-secret-that-is-right';

export interface FakeRecord {
  id: string;
  /** the name of its zone */
  zone: string;
  name: string;
  type: string;
  /** an address, a name without a dot at its end, a text without quotation marks */
  value: string;
  ttl: number;
  /** Cloudflare: behind its proxy */
  proxied?: boolean;
  /** DNSPod, Alibaba Cloud: whom it is answered to; default everybody who has no other */
  line?: string;
  isOff?: boolean;
  /** DNSPod: of a policy; 0 is none */
  weight?: number;
  /** Route 53: which of a routing policy's sets */
  set?: string;
}
export interface Asked {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string;
  records: FakeRecord[];
  /** of one page of records */
  pageMost: number;
  /** its key may read alone */
  isReadOnly: boolean;
}
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body: unknown;
}

/** A test may rename them, and put them back. */
export const zones = { one: 'one.test', deep: 'deep.one.test' };
let made = 0;
export const nextID = () => String(1000 + made++);
export const whole = (label: string, zone: string) => (label === '@' ? zone : `${label}.${zone}`);
export const labelOf = ({ name, zone }: FakeRecord) => (name === zone ? '@' : name.slice(0, -zone.length - 1));
/** A name that leads on has nothing beside it. */
export const isBeside = (
  records: readonly FakeRecord[],
  { name, type, id }: Pick<FakeRecord, 'name' | 'type'> & { id?: string },
) => records.some(one => one.id !== id && one.name === name && (one.type === 'CNAME') !== (type === 'CNAME'));
export const isDouble = (records: readonly FakeRecord[], given: Omit<FakeRecord, 'id' | 'zone' | 'ttl'> & { id?: string }) =>
  records.some(
    one =>
      one.id !== given.id &&
      one.name === given.name &&
      one.type === given.type &&
      one.value === given.value &&
      one.line === given.line,
  );
export const drop = (records: FakeRecord[], id: string): boolean => {
  const at = records.findIndex(one => one.id === id);
  if (at >= 0) records.splice(at, 1);
  return at >= 0;
};
