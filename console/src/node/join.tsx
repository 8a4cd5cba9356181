/** Adding a node: one command for its machine, then watching until it is there. */
import { LoadingOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Alert, Button, Form, Input, Modal, Select } from 'antd';
import { useState } from 'react';
import { nodeTypes, polling } from '#contract/limits.ts';
import { ruleText } from '#contract/rules/rule.ts';
import { Status } from '../kit/bits.tsx';
import { useChoices } from '../kit/choices.ts';
import { type AnswerOf, call } from '../kit/client.ts';
import { CopyButton } from '../kit/copy.tsx';
import { Label } from '../kit/fields.tsx';
import { isSame } from '../kit/form-state.ts';
import { mayLeave, useHold } from '../kit/leaving.ts';
import { present } from '../kit/present.tsx';
import { queryClient } from '../kit/query.ts';
import { bodyCheck } from '../kit/schema-of.ts';
import { language, t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { OpenLines } from './open-lines.tsx';
import { type Node, stateOf } from './state.ts';

const joinCall = 'POST /client/nodes/joinToken';
const newest = { query: { sortBy: 'createdAt', orderBy: 'desc', pageSize: 25 } } as const;

/** The newest nodes, with and without a zone. */
async function newestNodes(): Promise<Node[]> {
  const [initialized, uninitialized] = await Promise.all([
    call('GET /client/nodes/initialized', newest),
    call('GET /client/nodes/uninitialized', newest),
  ]);
  return [...initialized.data, ...uninitialized.data];
}

interface Typed {
  name?: string;
  zoneID?: number;
  type: (typeof nodeTypes)[number];
}
type Token = AnswerOf<typeof joinCall> & { lastID: number };

export function JoinDialog({
  zoneID,
  onClose,
  onInitialize,
}: {
  zoneID?: number;
  onClose: () => void;
  onInitialize: (node: Node) => void;
}) {
  const [token, setToken] = useState<Token>();
  const close = () => void mayLeave().then(isSure => isSure && onClose());
  return (
    <Modal
      open
      width={600}
      title={t('join.title')}
      mask={{ blur: false }}
      onCancel={close}
      footer={token ? <Button onClick={onClose}>{t('action.close')}</Button> : null}
    >
      {token ? (
        <Command token={token} onAgain={() => setToken(undefined)} onInitialize={onInitialize} />
      ) : (
        <>
          <Ask zoneID={zoneID} onToken={setToken} onClose={close} />
          <OpenLines />
        </>
      )}
    </Modal>
  );
}

function Ask({ zoneID, onToken, onClose }: { zoneID?: number; onToken: (token: Token) => void; onClose: () => void }) {
  const [form] = Form.useForm<Typed>();
  const zones = useChoices({ from: 'GET /client/metaZones' }, {});
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const initial = { zoneID, type: 'edge' as const };

  useHold(() => {
    const typed = form.getFieldsValue();
    return !isBusy && !isSame({ ...initial, ...typed }, initial);
  });

  async function make(values: Typed) {
    const body = {
      ...(values.name?.trim() ? { name: values.name.trim() } : {}),
      ...(values.zoneID ? { zoneID: values.zoneID } : {}),
      ...(values.type === 'edge' ? {} : { type: values.type }),
    };
    setBusy(true);
    try {
      const wrong = (await bodyCheck(joinCall)).problems(body)[0];
      setProblem(wrong && ruleText(wrong as never, language));
      if (wrong) return;
      // What is newer than the newest now is what the command brought.
      const known = await newestNodes();
      const answer = await call(joinCall, { body });
      onToken({ ...answer, lastID: Math.max(0, ...known.map(node => node.id)) });
    } catch (error) {
      present(error);
    } finally {
      setBusy(false);
    }
  }
  return (
    <Form form={form} layout="vertical" requiredMark={false} initialValues={initial} onFinish={values => void make(values)}>
      <p className="join-intro ink-3">{t('join.intro')}</p>
      <Form.Item
        name="name"
        label={<Label text={t('field.name')} isOptional />}
        extra={t('join.nameHelp')}
        validateStatus={problem ? 'error' : undefined}
        help={problem}
      >
        <Input autoFocus spellCheck={false} autoComplete="off" onChange={() => setProblem(undefined)} />
      </Form.Item>
      <Form.Item name="zoneID" label={<Label text={t('field.zone')} isOptional />} extra={t('join.zoneHelp')}>
        <Select allowClear placeholder={t('join.later')} options={zones.options} loading={zones.isPending} />
      </Form.Item>
      <Form.Item name="type" label={t('field.type')} extra={t('help.nodeType')}>
        <Select options={nodeTypes.map(value => ({ value, label: t(`nodeType.${value}`) }))} />
      </Form.Item>
      <div className="dialog-footer">
        <span className="grow" />
        <Button onClick={onClose}>{t('action.cancel')}</Button>
        <Button type="primary" htmlType="submit" loading={isBusy}>
          {t('join.make')}
        </Button>
      </div>
    </Form>
  );
}

function Command({ token, onAgain, onInitialize }: { token: Token; onAgain: () => void; onInitialize: (node: Node) => void }) {
  const nodes = useQuery({
    queryKey: ['joined', token.lastID],
    queryFn: newestNodes,
    staleTime: 0,
    refetchInterval: polling.nodeInformationPollMs,
    select: all => all.filter(node => node.id > token.lastID),
  });
  const joined = nodes.data ?? [];
  const isOver = nodes.dataUpdatedAt > new Date(token.expiredAt).getTime();
  // nobody from elsewhere reaches this installation: no line would work
  if (!token.command)
    return (
      <Alert
        type="warning"
        showIcon
        title={t('join.closed')}
        description={t('join.closedText', { variable: 'BREAKWATER_HOST' })}
      />
    );
  return (
    <div className="join">
      <p>{t('join.run')}</p>
      <div className="command">
        <code>{token.command}</code>
        <div className="command-foot">
          <span className={isOver ? 'bad' : 'ink-3'}>
            {isOver ? t('join.expired') : t('join.until', { time: dateTime(token.expiredAt) })}
          </span>
          {isOver ? (
            <Button onClick={onAgain}>{t('join.again')}</Button>
          ) : (
            <CopyButton text={token.command} label={t('join.copy')} size="middle" />
          )}
        </div>
      </div>
      <p className="ink-3">{t('join.needs')}</p>
      <div role="status" aria-live="polite">
        {joined.length === 0 && !isOver && (
          <div className="watch ink-3">
            <LoadingOutlined /> {t('join.waiting')}
          </div>
        )}
        {joined.map(node => (
          <div key={node.id} className="watch">
            <Status value={stateOf(node)} />
            <strong>{node.name}</strong>
            <span className="ink-3">{node.zoneName ? t('join.inZone', { zone: node.zoneName }) : t('join.noZone')}</span>
            <span className="grow" />
            {node.zoneID === null && (
              <Button
                type="primary"
                size="small"
                onClick={() => {
                  void queryClient.invalidateQueries();
                  onInitialize(node);
                }}
              >
                {t('action.initialize')}
              </Button>
            )}
          </div>
        ))}
      </div>
    </div>
  );
}
