/** Who answers on a line, over every mix of states. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AnsweredLine,
  answersOf,
  chosenOf,
  defaultLineID,
  type Member,
  type Reason,
  standingOf,
  troubleOfNode,
} from './choose.ts';

const member = (UID: string, more: Partial<Member> = {}): Member => ({
  UID,
  name: UID,
  backup: false,
  trouble: undefined,
  isWaiting: false,
  isHeard: true,
  seconds: 0,
  addresses: ['192.0.2.1'],
  cname: null,
  ...more,
});
const line = (members: readonly Member[], lineID = defaultLineID) => ({ lineID, cidrs: [], members });
const answered = (members: readonly { UID: string }[], lineID = defaultLineID): AnsweredLine => ({
  lineID,
  cidrs: [],
  a: [],
  aaaa: [],
  cname: null,
  members: members.map(({ UID }) => ({ UID, name: UID })),
});

const states: readonly { trouble: Reason | undefined; isWaiting?: boolean; isHeard: boolean }[] = [
  { trouble: undefined, isHeard: true },
  { trouble: undefined, isWaiting: true, isHeard: true },
  { trouble: 'problem', isHeard: true },
  { trouble: 'problem', isHeard: false },
  { trouble: 'cutOff', isHeard: true },
  { trouble: 'cutOff', isHeard: false },
  { trouble: 'unknown', isHeard: false },
  { trouble: 'silent', isHeard: false },
  { trouble: 'paused', isHeard: true },
  { trouble: 'removed', isHeard: false },
];
const each = states.flatMap(state =>
  [false, true].flatMap(backup => [false, true].map(isLast => ({ ...state, backup, isLast }))),
);

test('whatever three nodes are: nobody silent is answered while somebody is there, and nobody worse than who is well', () => {
  let mixes = 0;
  for (const x of each)
    for (const y of each)
      for (const z of each) {
        mixes++;
        const mix = [x, y, z];
        const members = mix.map((one, i) => member(`n-${i}`, one));
        const before = answered(members.filter((_, i) => mix[i]!.isLast));
        const chosen = chosenOf(line(members), before).members;
        const told = () => `${JSON.stringify(mix)} gives ${chosen.map(one => one.UID).join(', ')}`;
        assert.ok(chosen.length, told());
        const isWell = (one: Member) => one.trouble === undefined && !one.isWaiting;
        if (members.some(one => isWell(one) && !one.backup))
          assert.ok(
            chosen.every(one => isWell(one) && !one.backup),
            told(),
          );
        else if (members.some(isWell)) assert.ok(chosen.every(isWell), told());
        else if (members.some(one => one.trouble === undefined))
          assert.ok(
            chosen.every(one => one.trouble === undefined),
            told(),
          );
        if (members.some(one => one.isHeard && one.trouble !== 'paused'))
          assert.ok(
            chosen.every(one => one.isHeard && one.trouble !== 'paused'),
            told(),
          );
        // it may be that those who are there are paused: then as it was
        else if (members.some(one => before.members.some(({ UID }) => UID === one.UID)))
          assert.ok(
            chosen.every(one => before.members.some(({ UID }) => UID === one.UID)),
            told(),
          );
      }
  assert.equal(mixes, 64_000);
});

test('one that is well again takes over from one that is dead at once, and its log says that nobody else was there', () => {
  const dead = member('dead', { trouble: 'silent', isHeard: false, seconds: 9, addresses: ['192.0.2.1'] });
  const back = member('back', { isWaiting: true, addresses: ['192.0.2.2'] });
  const { lines, changes } = answersOf([line([dead, back])], [{ ...answered([dead]), a: ['192.0.2.1'] }]);
  assert.deepEqual(lines[0]!.a, ['192.0.2.2']);
  assert.deepEqual(
    changes.map(one => `${one.UID} ${one.change} ${one.reason}`),
    ['dead left silent', 'back came lastOne'],
  );
});

test('a line of networks gives way to everybody’s only where that is better', () => {
  const silent = member('own', { trouble: 'silent', isHeard: false });
  const sick = member('own', { trouble: 'problem' });
  const visible = (own: Member, everybodys: Member[]) =>
    answersOf([line([own], 2), line(everybodys)], []).lines.some(one => one.lineID === 2);
  assert.equal(visible(sick, [member('well')]), false);
  assert.equal(visible(silent, [member('sick', { trouble: 'problem' })]), false);
  assert.equal(visible(sick, [member('silent', { trouble: 'silent', isHeard: false })]), true);
  assert.equal(visible(silent, []), true);
});

test('an answer fits into one datagram, and each node has an address in it before another has its second', () => {
  const many = Array.from({ length: 20 }, (_, i) =>
    member(`n-${i}`, { addresses: Array.from({ length: 5 }, (_, k) => [`198.51.${k}.${i}`, `2606:4700:${k}::${i + 1}`]).flat() }),
  );
  const { a, aaaa } = answersOf([line(many)], []).lines[0]!;
  // RFC 1035 §4.1.3: a name that was said before takes 2 bytes, type, class, time and length 10
  const rest = 12 + 255 + 4 + 11 + 4 + 8 + 16;
  for (const [found, bytes] of [
    [a, 16],
    [aaaa, 28],
  ] as const) {
    assert.ok(found.length >= many.length && rest + found.length * bytes <= 1232, `${found.length} addresses`);
    for (const { addresses } of many)
      assert.ok(
        addresses.some(one => found.includes(one)),
        `${addresses[0]} is in no answer`,
      );
  }
});

test('a node whose disk was copied, and one that is paused, is answered as long as nothing else is wrong', () => {
  const well = { isHeard: true, isFine: true, isTwin: false };
  const trouble = (more: object) => troubleOfNode({ status: 'error', ...well, ...more }) !== undefined;
  assert.equal(trouble({}), true);
  assert.equal(trouble({ isTwin: true }), false);
  assert.equal(trouble({ isTwin: true, isFine: false }), true);
  assert.equal(trouble({ isTwin: true, isHeard: false }), true);
  assert.equal(trouble({ status: 'paused' }), false);
  assert.equal(trouble({ status: 'offline', isTwin: true }), true);
});

/** Looks one after another, as whoever steers has them. @returns what each found: who, what, why */
function looks(...all: { lineID?: number; name?: string; cidrs?: string[]; members: Member[] }[][]): string[][] {
  let before: AnsweredLine[] | undefined;
  let stood = {};
  return all.map(lines => {
    const wanted = lines.map(({ lineID = defaultLineID, cidrs = [], name = 'default', members }) => ({
      lineID,
      name,
      cidrs,
      members,
    }));
    const { lines: now, changes } = answersOf(wanted, before ?? [], stood);
    [before, stood] = [now, standingOf(wanted)];
    return changes.map(one => `${one.UID} ${one.change} ${one.reason}${one.lineName === 'default' ? '' : ` on ${one.lineName}`}`);
  });
}
const sick = { trouble: 'problem' } as const;

test('who comes to a line that answers already is assigned to it; who was on it is well again', () => {
  const one = member('one');
  assert.deepEqual(
    looks(
      [{ members: [one] }],
      [{ members: [one, member('two'), member('three', sick)] }],
      [{ members: [one, member('two'), member('three')] }],
    ),
    [['one came assigned'], ['two came assigned'], ['three came well']],
  );
});

test('of several nodes that alone has moved whose addresses are others, also beside another change', () => {
  const other = { addresses: ['192.0.2.9'] };
  const [one, two, three] = ['one', 'two', 'three'].map((name, i) => member(name, { addresses: [`192.0.2.${i + 1}`] }));
  assert.deepEqual(
    looks(
      [{ members: [one!, two!, three!] }],
      [{ members: [one!, { ...two!, ...other }, three!] }],
      [{ members: [one!, two!, { ...three!, ...sick }] }],
    ).slice(1),
    [['two moved addresses'], ['three left problem', 'two moved addresses']],
  );
});

test('what was said of a line tells its name as it was, also of one that is gone, and when it is for others', () => {
  const everybody = { members: [member('all')] };
  const office = { lineID: 7, name: 'office', cidrs: ['192.0.2.0/24'], members: [member('one')] };
  assert.deepEqual(looks([everybody, office], [everybody, { ...office, cidrs: ['198.51.100.0/24'] }], [everybody]).slice(1), [
    [' line lineFor on office'],
    ['one left removed on office'],
  ]);
});

test('where nobody knows who stood on a line any of those that it answers may have moved', () => {
  const before = answersOf([line([member('one'), member('two')])], []).lines;
  const { changes } = answersOf([line([member('one'), member('two', { addresses: ['192.0.2.9'] })])], before);
  assert.deepEqual(
    changes.map(one => `${one.UID} ${one.change}`),
    ['one moved', 'two moved'],
  );
});

test('a paused node that has died is answered only where nobody else is on the line, or was answered last of those who are silent', () => {
  const trouble = troubleOfNode({ status: 'paused', isHeard: false, isFine: true, isTwin: false });
  assert.equal(trouble, 'silent', 'the log says what is wrong with it');
  const dead = member('paused', { isPaused: true, isHeard: false, trouble });
  const chosen = (others: readonly Member[], last: readonly Member[] = []) =>
    chosenOf(line([dead, ...others]), answered(last)).members.map(one => one.UID);
  const silent = member('silent', { isHeard: false, trouble: 'silent' });
  const sick = member('sick', { trouble: 'problem' });
  assert.deepEqual(chosen([silent]), ['silent'], 'one that nobody has paused, were it silent too');
  assert.deepEqual(chosen([member('backup', { ...silent, UID: 'backup', backup: true })]), ['backup']);
  assert.deepEqual(chosen([silent], [silent]), ['silent']);
  assert.deepEqual(chosen([sick], [dead]), ['sick'], 'whoever is there');
  assert.deepEqual(chosen([member('well')], [dead]), ['well']);
  // nobody is heard of, as while the control plane is cut off: nothing changes
  assert.deepEqual(chosen([silent], [dead]), ['paused']);
  assert.deepEqual(chosen([]), ['paused']);
  assert.deepEqual(chosen([member('always', { isAlways: true })]), ['always']);
});

test('one that is always answered stands beside the others once it has been well for long enough, and not before', () => {
  const main = member('main');
  const always = (more: Partial<Member>) => member('always', { backup: true, isAlways: true, ...more });
  const chosen = (more: Partial<Member>) => chosenOf(line([main, always(more)]), undefined).members.map(one => one.UID);
  assert.deepEqual(chosen({}), ['main', 'always']);
  assert.deepEqual(chosen({ isWaiting: true }), ['main']);
  assert.deepEqual(chosen({ trouble: 'silent', isHeard: false }), ['main']);
});
