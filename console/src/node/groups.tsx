/** How names resolve: the groups of a zone, their lines, and the nodes that answer on them. */
import './fleet.css';
import { useMemo } from 'react';
import type { RowOf } from '../kit/client.ts';
import { later } from '../kit/later.tsx';
import { overlay } from '../kit/overlay.ts';
import { resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { currentScreens, screensOf } from '../kit/screens.ts';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';
import { useNarrow } from '../kit/use-narrow.ts';
import { LineASNs, LinePlaces } from './line-origin.tsx';
import { OneZone } from './one-zone.tsx';

const GroupAnswers = later(async () => (await import('./group-answers.tsx')).GroupAnswers);
const LineNodes = later(async () => (await import('./line-nodes.tsx')).LineNodes);

type Group = RowOf<'GET /client/zone/{zoneId}/groups'>;

type GroupLine = Group['lines'][number];
/** Numbers of operators are typed as text, with or without `AS` before them. */
const asnOf = (typed: unknown) => Number(String(typed).normalize('NFKC').trim().replace(/^AS/i, ''));
const lineOf = ({ id, name, cidrs, asns, places }: GroupLine) => ({ lineID: id, name, places, cidrs, asns: asns.map(String) });

const unmatchedShown = 5;

/** DNS is on once there is a page to set it up. */
const dnsSetting = 'systemManagement/dnsSetting';
/** Amber where a domain would resolve to nothing; while nothing resolves here, or nobody uses the group, nothing is wrong. */
function NodeCount({ group: { nodeCount, virtualNodeCount, productCount, lines } }: { group: Group }) {
  const isNarrow = useNarrow();
  const isOn = screensOf(currentScreens()).some(screen => screen.path === dnsSetting);
  const [tone, text, note] =
    nodeCount > 0
      ? (['good', t('group.nodes', { count: number(nodeCount) })] as const)
      : virtualNodeCount > 0
        ? (['good', t('group.virtualNodes', { count: number(virtualNodeCount) })] as const)
        : productCount === 0
          ? (['idle', t('group.unused'), t('group.unusedText')] as const)
          : isOn
            ? (['warn', t('group.noNodes'), t('group.noNodesText')] as const)
            : (['idle', t('group.noNodes'), t('group.noNodesLater')] as const);
  return (
    <span>
      <span className="status is-long">
        <span className={`status-dot ${tone}`} aria-hidden />
        {text}
      </span>
      {note && <span className="cell-note">{note}</span>}
      {isNarrow && <Unmatched lines={lines} isShort />}
    </span>
  );
}

/** What of them no address is in: by that a line answers nobody. A telephone says so beside the name, or nobody would see it, in few words. */
function Unmatched({ lines, isShort }: { lines: readonly GroupLine[]; isShort?: boolean }) {
  const unmatched = lines.flatMap(line => line.unmatched);
  if (!unmatched.length) return null;
  const hasRegion = unmatched.some(one => /^[A-Z]{2}-/.test(one));
  return (
    <span className="cell-note status is-long" title={unmatched.join(', ')}>
      {t('group.unmatched', { places: unmatched.slice(0, unmatchedShown).join(', '), count: unmatched.length })}
      {hasRegion && !isShort && ` ${t('group.unmatchedRegions')}`}
    </span>
  );
}
function Lines({ lines }: { lines: readonly GroupLine[] }) {
  const isNarrow = useNarrow();
  const names = lines.map(line => line.name).join(', ');
  if (!names) return <span className="ink-3">–</span>;
  return (
    <span title={names}>
      {names}
      {!isNarrow && <Unmatched lines={lines} />}
    </span>
  );
}

const groupsOf = (zoneID: number) =>
  resource<'GET /client/zone/{zoneId}/groups'>({
    name: 'groups',
    list: 'GET /client/zone/{zoneId}/groups',
    defaultSort: 'name',
    rowName: group => group.name,
    columns: [
      { name: 'name', sort: true, link: 'assignNodes', width: 200 },
      { name: 'nodeCount', width: 260, isState: true, render: group => <NodeCount group={group} /> },
      { name: 'productCount', kind: 'number' },
      { name: 'lines', width: 320, render: group => <Lines lines={group.lines} /> },
      { name: 'memo', width: 220 },
      { name: 'createdAt', kind: 'time', sort: true },
      { name: 'updatedAt', kind: 'time', sort: true, isOptional: true },
      { name: 'id', kind: 'number', isOptional: true },
    ],
    create: 'POST /client/group',
    errors: { fields: { duplicated: 'name' } },
    createBody: values => ({ ...values, zoneID }),
    update: 'PATCH /client/group',
    drawerPx: 860,
    valuesOf: group => ({ name: group.name, memo: group.memo, lines: group.lines?.map(lineOf) }),
    updateBody: ({ lines, ...values }, group) => ({
      ...values,
      id: group.id,
      lines: ((lines ?? []) as ReturnType<typeof lineOf>[]).map(line => ({ ...line, asns: (line.asns ?? []).map(asnOf) })),
    }),
    remove: 'DELETE /client/group',
    removal: 'destructive',
    fields: [
      { name: 'name', kind: 'text', help: 'name' },
      { name: 'memo', kind: 'area' },
      {
        name: 'lines',
        kind: 'list',
        help: 'lines',
        only: 'edit',
        add: 'addLine',
        template: () => ({ name: '', places: [], cidrs: [], asns: [] }),
        fields: [
          { name: 'name', kind: 'text' },
          { name: 'places', kind: 'custom', width: 250, render: input => <LinePlaces {...input} /> },
          { name: 'asns', kind: 'custom', width: 150, render: input => <LineASNs {...input} /> },
          { name: 'cidrs', kind: 'tags', width: 230 },
        ],
      },
    ],
    actions: [
      {
        name: 'assignNodes',
        call: 'GET /client/group/{g}/line/{l}/nodes',
        run: ([group]: Group[]) => overlay(close => <LineNodes group={group!} onClose={() => close()} />),
      },
      {
        name: 'answers',
        call: ['GET /client/group/{g}/answer', 'GET /client/group/{g}/answers'],
        run: ([group]: Group[]) => overlay(close => <GroupAnswers group={group!} onClose={() => close()} />),
      },
    ],
  });

function GroupsOfZone({ zoneID }: { zoneID: number }) {
  const groups = useMemo(() => groupsOf(zoneID), [zoneID]);
  const params = useMemo(() => ({ zoneId: zoneID }), [zoneID]);
  return <ResourcePage resource={groups} params={params} isEmbedded />;
}

export default function Groups() {
  return (
    <OneZone note={t('group.note')} call="GET /client/zone/{zoneId}/groups">
      {zoneID => <GroupsOfZone key={zoneID} zoneID={zoneID} />}
    </OneZone>
  );
}
