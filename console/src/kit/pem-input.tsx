/** Certificate and key as PEM: pasted, dropped or chosen as files. What they are is said at once, in words; the order is put right. */
import { Button, Input } from 'antd';
import { type DragEvent, useId, useRef, useState } from 'react';
import { Facts, Status } from './bits.tsx';
import { notify } from './notice.ts';
import { type Bundle, chainOf, isKeyOf, readPem } from './pem.ts';
import { t } from './text.ts';
import { dateTime } from './time.ts';
import { relative } from './until.tsx';
import { type InputLook, isInvalid, WithWhy } from './why.tsx';

interface Props extends InputLook {
  /** PEM, the certificate and its chain, and the key if it is given. */
  value?: string;
  onChange?: (value: string) => void;
}

const mostBytes = 1_000_000;
const namesShown = 12;
const daySeconds = 86_400;

export function PemInput({ value = '', onChange, why, isReadOnly, ...look }: Props) {
  const files = useRef<HTMLInputElement>(null);
  const told = useId();
  const [isOver, setOver] = useState(false);
  const found = readPem(value);
  const isFixed = why !== undefined || isReadOnly;

  /** Several files are one text: certificate, chain and key come apart from many an authority. */
  async function add(list: FileList | null) {
    const texts = await Promise.all(
      [...(list ?? [])].map(async file => {
        const text = file.size > mostBytes ? undefined : await file.text();
        if (text?.includes('-----BEGIN')) return text.trim();
        notify.error(t(text === undefined ? 'pem.tooLarge' : 'pem.noPem', { name: file.name }));
        return '';
      }),
    );
    const read = texts.filter(Boolean);
    if (read.length) onChange?.([value.trim(), ...read].filter(Boolean).join('\n'));
  }
  function drop(event: DragEvent) {
    event.preventDefault();
    setOver(false);
    if (!isFixed) void add(event.dataTransfer.files);
  }
  return (
    <WithWhy why={why}>
      {reason => (
        <div
          className={isOver ? 'pem pem-over' : 'pem'}
          onDragOver={event => {
            event.preventDefault();
            setOver(!isFixed);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          <Input.TextArea
            {...look}
            aria-describedby={[look['aria-describedby'], reason, told].filter(Boolean).join(' ')}
            className="mono"
            spellCheck={false}
            autoComplete="off"
            autoSize={{ minRows: 4, maxRows: 8 }}
            placeholder={'-----BEGIN CERTIFICATE-----'}
            status={isInvalid(look) ? 'error' : undefined}
            disabled={why !== undefined}
            readOnly={isReadOnly}
            value={value}
            onChange={event => onChange?.(event.target.value)}
          />
          {!isFixed && (
            <div className="pem-actions">
              <Button onClick={() => files.current?.click()}>{t('pem.choose')}</Button>
              <span className="ink-3">{t('pem.drop')}</span>
              <input
                ref={files}
                type="file"
                multiple
                hidden
                accept=".pem,.crt,.cer,.key,.txt"
                onChange={event => {
                  void add(event.target.files);
                  // the same file again is a choice too
                  event.target.value = '';
                }}
              />
            </div>
          )}
          <div id={told} role="status">
            {value.trim() !== '' && <Told found={found} onOrder={isFixed ? undefined : onChange} />}
          </div>
        </div>
      )}
    </WithWhy>
  );
}

function Told({ found, onOrder }: { found: Bundle; onOrder: ((pem: string) => void) | undefined }) {
  const { certificates, keys, broken } = found;
  // as of when it was opened
  const [now] = useState(() => Date.now());
  const chain = chainOf(certificates);
  const [own] = chain.ordered;
  if (!own)
    return <p className="piece-wrong">{broken.length ? t('pem.broken', { labels: broken.join(', ') }) : t('pem.none')}</p>;
  const last = chain.ordered.at(-1)!;
  const secondsLeft = (own.until.getTime() - now) / 1000;
  const isEarly = own.from.getTime() > now;
  const state = secondsLeft <= 0 ? 'bad' : isEarly || secondsLeft < 14 * daySeconds ? 'warn' : 'good';
  const [key] = keys;
  const match = key && isKeyOf(own, key);
  return (
    <>
      <Facts
        facts={[
          [t('pem.subject'), own.subject],
          [
            t('pem.names'),
            own.names.length ? (
              <span>
                {own.names.slice(0, namesShown).join(', ')}
                {own.names.length > namesShown && ` ${t('confirm.more', { count: own.names.length - namesShown })}`}
              </span>
            ) : (
              <span className="piece-warn">{t('pem.noNames')}</span>
            ),
          ],
          [
            t('pem.until'),
            <span key="until" className={`piece-${state}`}>
              {secondsLeft <= 0
                ? t('pem.expired', { time: dateTime(own.until) })
                : isEarly
                  ? t('pem.early', { time: dateTime(own.from) })
                  : `${dateTime(own.until)} (${relative(secondsLeft)})`}
            </span>,
          ],
          [
            t('pem.chain'),
            <span key="chain">
              {chain.ordered.map(one => one.subject).join(' → ')}
              {!last.isSelfSigned && ` → ${last.issuer}`}
              {chain.ordered.length === 1 && !own.isSelfSigned && (
                <small className="piece-warn">{t('pem.alone', { issuer: own.issuer })}</small>
              )}
              {own.isSelfSigned && <small className="piece-warn">{t('pem.selfSigned')}</small>}
              {chain.strays.length > 0 && (
                <small className="piece-warn">
                  {t('pem.strays', { names: chain.strays.map(one => one.subject).join(', ') })}
                </small>
              )}
            </span>,
          ],
          [
            t('pem.key'),
            key === undefined ? (
              <span className="ink-3">{t('pem.noKey')}</span>
            ) : keys.length > 1 ? (
              <span className="piece-bad">{t('pem.manyKeys')}</span>
            ) : key.isEncrypted ? (
              <span className="piece-bad">{t('pem.encrypted')}</span>
            ) : match === undefined ? (
              <span>{t('pem.unknownKey')}</span>
            ) : (
              <span>
                <Status value={match ? 'success' : 'error'} texts="pemKey" />
              </span>
            ),
          ],
        ]}
      />
      {broken.length > 0 && <p className="piece-wrong">{t('pem.broken', { labels: broken.join(', ') })}</p>}
      {chain.isMended && onOrder && (
        <div className="pem-actions">
          <span className="piece-warn">{t('pem.order')}</span>
          <Button
            size="small"
            onClick={() => onOrder([...chain.ordered, ...chain.strays, ...keys].map(one => one.pem).join('\n'))}
          >
            {t('pem.mend')}
          </Button>
        </div>
      )}
    </>
  );
}
