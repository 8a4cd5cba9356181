/** One request with everything that is known of it. */
import { DownOutlined, FilterOutlined, UpOutlined } from '@ant-design/icons';
import { Button, Drawer } from 'antd';
import type { ReactNode } from 'react';
import { Facts } from '../kit/bits.tsx';
import { CopyButton } from '../kit/copy.tsx';
import { t, textOf, tOf } from '../kit/text.ts';
import { dateOnly } from '../kit/time.ts';
import { bytes, milliseconds } from '../kit/units.ts';
import { cacheOf, causeOf, clockOf, curlOf, type LogLine } from './log-line.ts';
import type { LogState } from './log-query.ts';
import { blockWords, StatusWords } from './log-words.tsx';

interface Props {
  line: LogLine;
  siteName: string | undefined;
  /** of the node that answered; where nodes are not shown, none */
  nodeName: string | undefined;
  /** Sets filters and closes. */
  only: (part: Partial<LogState>) => void;
  previous?: () => void;
  next?: () => void;
  onClose: () => void;
}

export default function LogDetail({ line, siteName, nodeName, only, previous, next, onClose }: Props) {
  const hasUpstream = line.upstreamBytes > 0 || line.upstreamTimeMs > 0;
  const onlyButton = (filter: Partial<LogState>) => (
    <Button
      className="log-only"
      type="text"
      size="small"
      icon={<FilterOutlined />}
      aria-label={t('log.onlyThis')}
      title={t('log.onlyThis')}
      onClick={() => only(filter)}
    />
  );
  const value = (text: string, filter?: Partial<LogState>, shown: ReactNode = text) => (
    <>
      <span className="mono log-value">{text ? shown : '–'}</span>
      {text && filter && onlyButton(filter)}
      {text && <CopyButton text={text} />}
    </>
  );
  const ownStatus = textOf(`ownStatus.${line.status}`);
  const node: [string, ReactNode][] = nodeName === undefined ? [] : [[t('logField.node'), value(nodeName)]];
  const facts: [string, ReactNode][] = [
    [t('logField.time'), value(`${dateOnly(new Date(line.time))} ${clockOf(line.time)}`)],
    [
      t('logField.status'),
      value(String(line.status), { status: String(line.status) }, <StatusWords status={line.status} words={ownStatus} />),
    ],
    [t('logField.reason'), causeOf(line) ? value(blockWords(line)) : <span className="ink-3">{t('log.none')}</span>],
    [t('logField.method'), value(line.method)],
    [t('logField.domain'), value(line.domain, { domain: line.domain })],
    [t('logField.uri'), value(line.uri, { uri: line.uri })],
    [t('logField.remoteIP'), value(line.remoteIP, { ip: line.remoteIP })],
    [t('logField.cacheStatus'), value(cacheOf(line), { cache: cacheOf(line) }, cacheWords(line))],
    [t('logField.bytes'), exact(bytes(line.bytes), line.bytes)],
    [t('logField.requestTimeMs'), <span key="rt">{milliseconds(line.requestTimeMs)}</span>],
    [t('logField.upstreamBytes'), hasUpstream ? exact(bytes(line.upstreamBytes), line.upstreamBytes) : '–'],
    [t('logField.upstreamTimeMs'), hasUpstream ? milliseconds(line.upstreamTimeMs) : '–'],
    [t('logField.protocol'), value(line.protocol)],
    [t('logField.userAgent'), value(line.userAgent)],
    [t('logField.referer'), value(line.referer)],
    [t('logField.site'), value(siteName ?? String(line.siteID), { sites: [line.siteID] })],
    ...node,
    [
      t('logField.requestID'),
      <>
        <span>
          <span className="mono log-value">{line.requestID}</span>
          <br />
          <span className="ink-3">{t('log.requestIDHelp')}</span>
        </span>
        {onlyButton({ id: line.requestID })}
        <CopyButton text={line.requestID} />
      </>,
    ],
  ];
  return (
    <Drawer
      open
      size={640}
      title={t('log.detail')}
      mask={{ blur: false }}
      onClose={onClose}
      extra={
        <>
          <Button
            type="text"
            icon={<UpOutlined />}
            disabled={!previous}
            onClick={previous}
            aria-label={t('log.previous')}
            title={t('log.previous')}
          />
          <Button
            type="text"
            icon={<DownOutlined />}
            disabled={!next}
            onClick={next}
            aria-label={t('log.next')}
            title={t('log.next')}
          />
        </>
      }
    >
      <div className="log-actions">
        <CopyButton text={JSON.stringify(line, null, 2)} label={t('log.copyJSON')} />
        <CopyButton text={curlOf(line)} label={t('log.copyCurl')} />
      </div>
      <div className="log-facts">
        <Facts facts={facts} />
      </div>
    </Drawer>
  );
}

const exact = (text: string, value: number) => (
  <span>
    {text} {value >= 1000 && <span className="ink-3 numbers">({value.toLocaleString('en-US')})</span>}
  </span>
);

function cacheWords(line: LogLine) {
  const cache = cacheOf(line);
  return (
    <>
      {cache} <span className="ink-3">{tOf('cacheState', cache, '')}</span>
    </>
  );
}
