/** What a domain still lacks for https, above the list and as it changes: where its name leads, the proof, the certificate. */
import { CheckCircleFilled, CloseOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { type ReactNode, useEffect, useRef } from 'react';
import type { AnswerOf } from '../kit/client.ts';
import { useCan } from '../kit/permissions.ts';
import { query, queryClient, useAction } from '../kit/query.ts';
import { t, textOf } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { showTasks } from '../kit/task-log.ts';

const key = 'GET /{area}/site/{siteID}/domain/{domainID}/https';
const switching = 'PATCH /{area}/site/{siteID}/domain/setting/autoSSL';
type Https = AnswerOf<typeof key>;
/** While something goes on; a certificate that is there changes seldom. */
const quickMs = 2000;
const slowMs = 30_000;

interface Props {
  siteID: number;
  /** of the domain: it may have been made a moment ago */
  name: string;
  onClose: () => void;
}

export function HttpsSteps({ siteID, name, onClose }: Props) {
  const names = useQuery(query('GET /{area}/site/{siteID}/metaDomains', { siteID, query: { keyword: name } }));
  const domainID = names.data?.find(one => one.name === name)?.id;
  const { data } = useQuery({
    ...query(key, { siteID, domainID: domainID! }),
    enabled: domainID !== undefined,
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data && isDone(state.data) ? slowMs : quickMs),
  });
  const done = data && isDone(data);
  // what the list says of it is older than what stands here
  const was = useRef(done);
  useEffect(() => {
    if (done && was.current === false) void queryClient.invalidateQueries();
    was.current = done;
  }, [done]);
  return (
    <section className="panel first-steps https-steps" aria-labelledby="https-steps" aria-busy={!data}>
      <div className="first-steps-head">
        <h2 id="https-steps">{t(done ? 'https.done' : 'https.title', { name })}</h2>
        <Button type="text" icon={<CloseOutlined />} aria-label={t('action.close')} onClick={onClose} />
      </div>
      {data && (
        <ol aria-live="polite">
          <Step title={t('https.dns')} isDone={data.dns.state === 'here'}>
            {t(`https.leads.${data.dns.state}`, { addresses: data.dns.addresses.join(', ') || '—' })}
          </Step>
          <Step title={t('https.proof')} isDone={data.proof.state === 'seen'}>
            <Proof {...data} at={{ siteID, domainID: domainID! }} />
          </Step>
          <Step title={t('https.certificate')} isDone={data.certificate.state === 'shown'}>
            {t(`https.shown.${data.certificate.state}`, {
              until: data.certificate.notAfter === null ? '' : dateTime(data.certificate.notAfter),
            })}
          </Step>
        </ol>
      )}
    </section>
  );
}

/** A certificate that is shown is all that visitors need, whoever made it. */
const isDone = ({ certificate }: Https) => certificate.state === 'shown';

function Proof({ proof: { state, nextAt, line }, certificate, at }: Https & { at: { siteID: number; domainID: number } }) {
  const can = useCan();
  const switchOn = useAction(switching);
  const isByHand = state === 'off' && certificate.state === 'shown';
  return (
    <>
      {t(isByHand ? 'https.proof.byHand' : `https.proof.${state}`)}
      {state === 'failed' && nextAt !== null && ` ${t('https.again', { time: dateTime(nextAt) })}`}
      {line && state !== 'off' && (
        <p>
          {textOf(`taskLine.autoSSL.${line.code}`, line.values) ?? line.code}{' '}
          <Button type="link" size="small" onClick={() => openLog(line.taskID)}>
            {t('tasks.showLog')}
          </Button>
        </p>
      )}
      {state === 'off' && !isByHand && can(switching) && (
        <p>
          <Button
            size="small"
            loading={switchOn.isPending}
            onClick={() => void switchOn.run({ siteID: at.siteID, body: { domainIDs: [at.domainID], enabled: true } })}
          >
            {t('https.switchOn')}
          </Button>
        </p>
      )}
    </>
  );
}

const openLog = (taskID: number) => void showTasks(taskID);

function Step({ title, isDone: isStepDone, children }: { title: string; isDone: boolean; children: ReactNode }) {
  return (
    <li data-done={isStepDone}>
      <strong>
        {title}
        {isStepDone && <CheckCircleFilled className="good" role="img" aria-label={t('https.stepDone')} />}
      </strong>
      <div className="ink-3">{children}</div>
    </li>
  );
}
