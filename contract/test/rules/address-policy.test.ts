/** The address policy, spelling by spelling. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  AddressPolicy,
  environmentRanges,
  isPrivateRange,
  looseAddress,
  strictPolicy,
  type Verdict,
} from '#contract/rules/address-policy.ts';
import { formatIP } from '#contract/rules.ts';

const kind = (verdict: Verdict) => (verdict.allowed ? 'allowed' : verdict.kind);
const refusedAs: Record<string, string[]> = {
  loopback: [
    ...[
      '127.0.0.1',
      '127.0.0.1.',
      '127.1',
      '127.0.1',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '0177.0.0.1',
      '0177.1',
      '017700000001',
    ],
    ...['0x7F.0x0.0x0.0x1', '127.0.0.0x1', '127.255.255.254', '::1', '[::1]', '0:0:0:0:0:0:0:1', '::1%lo', '[::1%25lo]'],
    ...[
      '::ffff:127.0.0.1',
      '::FFFF:7F00:1',
      '0:0:0:0:0:ffff:7f00:0001',
      '::127.0.0.1',
      '::ffff:0:127.0.0.1',
      '64:ff9b::127.0.0.1',
    ],
    ...['64:ff9b:1::7f00:1', '2002:7f00:1::', '2002:7f00:0001:1::9', '2001:0:1:2:3:4:80ff:fffe', 'fe90::5efe:127.0.0.1'],
  ],
  unspecified: ['0.0.0.0', '0', '0x0', '0x', '00', '0.0.0.0.', '0.1.2.3', '::', '[::]', '::ffff:0.0.0.0', '64:ff9b::', '2002::'],
  linkLocal: ['169.254.0.1', '169.254.1', 'fe80::1', 'fe80::1%eth0', 'febf::1', '::ffff:169.254.7.7', '2002:a9fe:0101::'],
  metadata: [
    ...['169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe'],
    ...[
      '64:ff9b::a9fe:a9fe',
      '2002:a9fe:a9fe::',
      '169.254.170.2',
      'fd00:ec2::254',
      '100.100.100.200',
      '192.0.0.192',
      '168.63.129.16',
    ],
  ],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', '::ffff:224.0.0.1'],
  broadcast: ['255.255.255.255', '4294967295', '0xffffffff', '::ffff:255.255.255.255'],
  reserved: [
    ...[
      '240.0.0.1',
      '192.0.2.1',
      '198.51.100.7',
      '203.0.113.9',
      '198.18.0.1',
      '192.0.0.8',
      '192.88.99.1',
      '2001:db8::1',
      '3fff::1',
    ],
    ...['fec0::1', '5f00::1', '100::1', '2001:2::1', '4000::1', '64:ff9b:1::808:808'],
  ],
  private: [
    ...['10.0.0.1', '10.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '0xc0a80101', '100.64.0.1', 'fc00::1', 'fdff::1'],
    ...['::ffff:10.0.0.1', '64:ff9b::10.0.0.1', '2002:0a00:0001::'],
  ],
  notAddress: [
    '',
    ' ',
    'localhost',
    '1.2.3.4.5',
    '256.1.1.1',
    '08.1.1.1',
    '0x100000000',
    '127.0.0.1 x',
    '127.0.0.1/8',
    '::1::',
    '１２７.0.0.1',
  ],
};

describe('the address policy', () => {
  for (const [why, spellings] of Object.entries(refusedAs))
    test(`refuses ${spellings.length} spellings: ${why}`, () => {
      for (const text of spellings) assert.equal(kind(strictPolicy.judge(text, 80)), why, text);
    });

  test('lets public addresses pass, however they are written', () => {
    for (const text of [
      '8.8.8.8',
      '134744072',
      '172.32.0.1',
      '100.128.0.1',
      '2606:4700::1111',
      '::ffff:8.8.8.8',
      '64:ff9b::808:808',
      '2002:808:808::',
    ])
      assert.equal(kind(strictPolicy.judge(text, 80)), 'allowed', text);
  });

  test('an operator opens private ranges and nothing else', () => {
    const policy = new AddressPolicy({
      operator: ['10.0.0.0/8', '127.0.0.0/8', '0.0.0.0/0', '::/0', '100.64.0.0/10'],
      environment: [],
      own: [],
    });
    assert.equal(kind(policy.judge('10.1.2.3')), 'allowed');
    assert.equal(kind(policy.judge('::ffff:10.1.2.3')), 'allowed');
    assert.equal(kind(policy.judge('127.0.0.1')), 'loopback');
    assert.equal(kind(policy.judge('169.254.169.254')), 'metadata');
    assert.equal(kind(policy.judge('100.100.100.200')), 'metadata');
    // these lie in private blocks: their own entries alone keep them from an operator who opens the whole block
    for (const address of ['fd00:ec2::254', 'fd20:ce::254']) assert.equal(kind(policy.judge(address)), 'metadata', address);
    assert.equal(kind(policy.judge('192.0.2.1')), 'reserved');
    for (const range of ['10.0.0.0/8', '10.1.2.3', '192.168.0.0/24', 'fd00::/8', '100.64.0.0/10'])
      assert.ok(isPrivateRange(range), range);
    for (const range of [
      '10.0.0.0/7',
      '127.0.0.0/8',
      '0.0.0.0/0',
      '::/0',
      '169.254.0.0/16',
      '8.8.8.8',
      'x',
      '10.0.0.1-10.0.0.9',
      'fe80::/10',
      '100.100.100.200',
      'fd00:ec2::254',
      'fd00:ec2::/32',
      '::ffff:10.0.0.0/104',
    ])
      assert.ok(!isPrivateRange(range), range);
  });

  test('the environment opens what it names, save the installation’s ports and what is never open', () => {
    const own = ['127.0.0.1:5432', '[::1]:4222', '198.51.100.4', '10.9.9.9:8123'];
    const policy = new AddressPolicy({ operator: ['10.0.0.0/8'], environment: ['127.0.0.0/8', '::1'], own });
    assert.equal(kind(policy.judge('127.0.0.1', 80)), 'allowed');
    assert.equal(kind(policy.judge('127.0.0.1', 5432)), 'installation');
    assert.equal(kind(policy.judge('127.7.7.7', 4222)), 'installation');
    assert.equal(kind(policy.judge('::1', 5432)), 'installation');
    assert.equal(kind(policy.judge('::ffff:127.0.0.1', 5432)), 'installation');
    assert.equal(kind(policy.judge('198.51.100.4', 443)), 'installation');
    assert.equal(kind(policy.judge('10.9.9.9', 8123)), 'installation');
    assert.equal(kind(policy.judge('10.9.9.9', 80)), 'allowed');
    assert.equal(
      kind(new AddressPolicy({ operator: [], environment: ['198.51.100.4'], own }).judge('198.51.100.4', 443)),
      'allowed',
    );
    assert.equal(
      kind(new AddressPolicy({ operator: [], environment: ['0.0.0.0/0', '::/0'], own: [] }).judge('0.0.0.0')),
      'unspecified',
    );
  });

  test('an own address is refused in every form that carries it', () => {
    const own = ['8.8.8.8', '2606:4700::1', '9.9.9.9:8080', '127.0.0.1:5432'];
    const policy = new AddressPolicy({ operator: [], environment: [], own });
    for (const text of [
      '8.8.8.8',
      '0x08080808',
      '::ffff:8.8.8.8',
      '::8.8.8.8',
      '::ffff:0:8.8.8.8',
      '64:ff9b::808:808',
      '64:ff9b:1::808:808',
      '2002:808:808::1',
      '2001:0:1:1:1:1:f7f7:f7f7',
      '2606:4700::5efe:8.8.8.8',
      '[2606:4700::1]',
    ])
      assert.equal(kind(policy.judge(text, 443)), 'installation', text);
    for (const text of ['9.9.9.9', '64:ff9b::909:909', '2002:909:909::1']) {
      assert.equal(kind(policy.judge(text, 8080)), 'installation', text);
      assert.equal(kind(policy.judge(text, 443)), 'allowed', text);
    }
    for (const text of ['8.8.4.4', '64:ff9b::808:404', '2002:808:404::808:808', '2606:4700::2'])
      assert.equal(kind(policy.judge(text, 443)), 'allowed', text);
    const open = new AddressPolicy({ operator: [], environment: ['64:ff9b::/96'], own });
    assert.equal(kind(open.judge('64:ff9b::7f00:1', 80)), 'allowed');
    assert.equal(kind(open.judge('64:ff9b::7f00:1', 5432)), 'installation');
  });

  test('an own address that cannot be read is nobody’s, and stops nothing', () => {
    const policy = new AddressPolicy({
      operator: [],
      environment: [],
      own: ['eth0', '', 'not-an-address', 'db.internal:5432', '1.2.3.4/8', '8.8.8.8'],
    });
    assert.equal(kind(policy.judge('9.9.9.9', 80)), 'allowed');
    assert.equal(kind(policy.judge('8.8.8.8', 80)), 'installation');
  });

  test('BREAKWATER_ORIGIN_ALLOW is CIDR blocks, none of which holds what is never open', () => {
    assert.deepEqual(environmentRanges(undefined), []);
    assert.deepEqual(environmentRanges(' 127.0.0.0/8, ::1 ,,10.0.0.0/8'), ['127.0.0.0/8', '::1', '10.0.0.0/8']);
    assert.deepEqual(environmentRanges('100.64.0.0/10,fd00::/8'), ['100.64.0.0/10', 'fd00::/8'], 'they hold more than metadata');
    for (const bad of [
      '10.0.0.0/33',
      'inside',
      '10.0.0.1-10.0.0.9',
      '0.0.0.0/0',
      '::/0',
      '169.254.0.0/16',
      '224.0.0.1',
      'fe80::/64',
      '100.100.100.200',
      '100.100.100.200/32',
      '168.63.129.16',
      'fd00:ec2::/64',
      '::ffff:127.0.0.0/104',
      '::ffff:10.0.0.1',
    ])
      assert.throws(() => environmentRanges(bad), { name: 'RangeError', message: /^BREAKWATER_ORIGIN_ALLOW .*\.$/s }, bad);
  });

  test('names of the machine itself are known, and every spelling reads as one address', () => {
    const open = new AddressPolicy({ operator: [], environment: ['127.0.0.0/8', '::1'], own: ['127.0.0.1:5432'] });
    // a resolver answers with either address: who may have one of them alone writes that one down
    const [first, second] = [['127.0.0.0/8'], ['::1']].map(
      environment => new AddressPolicy({ operator: [], environment, own: [] }),
    );
    for (const name of ['localhost', 'LocalHost.', 'a.localhost', 'x.localdomain', 'ip6-loopback']) {
      assert.equal(kind(strictPolicy.judgeHost(name, 80)), 'loopback', name);
      assert.equal(kind(open.judgeHost(name, 80)), 'allowed', name);
      assert.equal(kind(first!.judgeHost(name, 80)), 'loopback', name);
      assert.equal(kind(second!.judgeHost(name, 80)), 'loopback', name);
      assert.equal(kind(open.judgeHost(name, 5432)), 'installation', name);
    }
    for (const name of ['metadata.google.internal', 'METADATA', 'instance-data'])
      assert.equal(kind(open.judgeHost(name)), 'metadata', name);
    for (const name of ['localhost.example.com', 'notlocalhost', 'metadata.example.com', '127.0.0.1.nip.io'])
      assert.equal(kind(strictPolicy.judgeHost(name)), 'allowed', name);
    assert.equal(formatIP(looseAddress('0300.0xa8.257')!), '192.168.1.1');
  });
});
