/** Purging URLs, prefixes, hosts or a whole site, and how far the nodes are with it. */
import { Button, Input, Segmented, Select } from 'antd';
import { useState } from 'react';
import { purgeTypes } from '#contract/limits.ts';
import { purgeTarget } from '#contract/rules/purge.ts';
import { linesOf, ruleText } from '#contract/rules/rule.ts';
import { selectProps, useChoices } from '../kit/choices.ts';
import type { RowOf } from '../kit/client.ts';
import { isSure } from '../kit/confirm.ts';
import { useCan } from '../kit/permissions.ts';
import { useHold } from '../kit/leaving.ts';
import { useAction } from '../kit/query.ts';
import { type Params, resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { language, t, tOf } from '../kit/text.ts';

const pollMs = 1000;
type Task = RowOf<'GET /{area}/site/{siteID}/setting/urlCaches'>;

const tasks = resource<'GET /{area}/site/{siteID}/setting/urlCaches'>({
  name: 'purges',
  list: 'GET /{area}/site/{siteID}/setting/urlCaches',
  pollMs: rows => rows.some(row => row.status === 'processing') && pollMs,
  columns: [
    { name: 'url', kind: 'mono', width: 360, render: task => <span className="mono">{task.url || '*'}</span> },
    { name: 'type', render: task => tOf('purgeType', task.type), width: 110 },
    { name: 'status', kind: 'status', width: 110 },
    {
      name: 'progress',
      label: 'progress',
      width: 150,
      render: (task: Task) => t('purge.progress', { nodes: task.nodes, applied: task.applied }),
    },
    { name: 'createdAt', kind: 'time' },
  ],
});

const kinds = ['url', 'prefix', 'host', 'site'] as const;
type What = (typeof kinds)[number];
const hints = { url: 'purge.hint', prefix: 'purge.prefixHint', host: 'purge.hostHint' } as const;

/** What is wrong with the first line that is not what its kind asks for. */
function problemIn(lines: ReturnType<typeof linesOf>, type: number): string | undefined {
  for (const { line, value } of lines) {
    const found = purgeTarget(type, value);
    if (found !== true) return t('form.line', { line: line + 1, text: ruleText(found[0]!, language) });
  }
  return undefined;
}

const domains = 'GET /{area}/site/{siteID}/metaDomains';

/** The domains of the site, put into the field one after another. */
function HostChoice({
  params,
  isChosen,
  onChoose,
}: {
  params: Params;
  isChosen: (host: string) => boolean;
  onChoose: (host: string) => void;
}) {
  const found = useChoices({ from: domains, value: 'name' }, params);
  return (
    <Select
      {...selectProps({ ...found, options: found.options.filter(one => !isChosen(String(one.value))) }, true)}
      aria-label={t('purge.addDomain')}
      placeholder={t('purge.addDomain')}
      notFoundContent={t('purge.noDomain')}
      value={null}
      onChange={host => onChoose(String(host))}
    />
  );
}

export function Purge({ params }: { params: Params }) {
  const can = useCan();
  const [what, setWhat] = useState<What>('url');
  const [text, setText] = useState('');
  const at = params as { siteID: number };
  const purge = useAction('DELETE /{area}/site/{siteID}/setting/urlCache', { success: t('message.cacheClearSuccess') });
  const purgeAll = useAction('DELETE /{area}/site/{siteID}/setting/currentCache', { success: t('message.cacheClearSuccess') });
  const [isAsked, setAsked] = useState(false);
  const lines = linesOf(text);
  const urls = lines.map(line => line.value);
  const problem = what === 'site' ? undefined : problemIn(lines, purgeTypes[what]);

  useHold(() => !purge.isPending && what !== 'site' && urls.length > 0);

  async function send() {
    if (what === 'site') {
      const isAgreed = await isSure({
        level: 'disruptive',
        title: t('action.purgeSite'),
        warning: t('warning.purgeSite'),
        targets: [],
        isDanger: true,
        confirm: t('action.purge'),
      });
      if (isAgreed) await purgeAll.run(at);
      return;
    }
    setAsked(true);
    if (problem) return;
    if (await purge.run({ ...at, body: { type: purgeTypes[what], urls } })) {
      setText('');
      setAsked(false);
    }
  }

  return (
    <>
      {can('DELETE /{area}/site/{siteID}/setting/urlCache') && (
        <div className="panel panel-padded purge-form">
          <Segmented
            aria-label={t('purge.what')}
            value={what}
            onChange={setWhat}
            options={kinds.map(value => ({ value, label: t(`purge.${value}`) }))}
          />
          {what === 'host' && can(domains) && (
            <HostChoice
              params={params}
              isChosen={host => urls.includes(host)}
              onChoose={host => setText(text.trim() ? `${text.trimEnd()}\n${host}` : host)}
            />
          )}
          {what !== 'site' && (
            <Input.TextArea
              className="mono"
              aria-label={t('purge.what')}
              placeholder={t(hints[what])}
              autoSize={{ minRows: 3, maxRows: 10 }}
              spellCheck={false}
              value={text}
              onChange={event => setText(event.target.value)}
              aria-invalid={isAsked && !!problem}
            />
          )}
          {isAsked && problem && (
            <p className="bad purge-said" role="alert">
              {problem}
            </p>
          )}
          {what === 'site' && <p className="ink-3">{t('warning.purgeSite')}</p>}
          <div>
            <Button
              type="primary"
              danger={what === 'site'}
              loading={purge.isPending || purgeAll.isPending}
              disabled={what !== 'site' && urls.length === 0}
              onClick={() => void send()}
            >
              {t('action.purge')}
            </Button>
          </div>
        </div>
      )}
      <ResourcePage resource={tasks} params={params} isEmbedded />
    </>
  );
}
