/** What the zone above is to say of a signed zone, as registrars ask for it: in four fields, or as one line. */
import { Drawer } from 'antd';
import { Facts } from '../kit/bits.tsx';
import { Copied } from '../kit/copy.tsx';
import { t } from '../kit/text.ts';
import { dsFields } from './ds-fields.ts';

const widthPx = 560;
const heading = { margin: '20px 0 6px' };
const copied = (text: string) => <Copied text={text} />;

function Record({ ds }: { ds: string }) {
  const { keyTag, algorithm, digestType, digest } = dsFields(ds);
  return (
    <Facts
      facts={[
        [t('ds.keyTag'), copied(keyTag)],
        [t('ds.algorithm'), copied(algorithm)],
        [t('ds.digestType'), copied(digestType)],
        [t('ds.digest'), copied(digest)],
        [t('ds.line'), copied(ds)],
      ]}
    />
  );
}

interface Props {
  name: string;
  /** as lines of a zone's file; of two the new key's is the last */
  ds: readonly string[];
  /** what should no longer stand there */
  before: readonly string[];
  state: readonly ['warn' | 'bad' | 'idle', string] | undefined;
  onClose: () => void;
}
export function DsRecords({ name, ds, before, state, onClose }: Props) {
  return (
    <Drawer open title={t('ds.title', { name })} size={widthPx} mask={{ blur: false }} onClose={onClose}>
      {state && (
        <p className="status is-long" role="status" style={{ marginBottom: 12 }}>
          <span className={`status-dot ${state[0]}`} aria-hidden />
          {state[1]}
        </p>
      )}
      {ds.map((one, index) => (
        <section key={one}>
          {ds.length > 1 && <h3 style={heading}>{t(index === ds.length - 1 ? 'ds.new' : 'ds.old')}</h3>}
          {/* of two it is the new one that is to be written */}
          {index === ds.length - 1 && (
            <p className="ink-2" style={{ marginBottom: 8 }}>
              {t('ds.text', { name })}
            </p>
          )}
          <Record ds={one} />
        </section>
      ))}
      {before.map(one => (
        <section key={one}>
          <h3 style={heading}>{t('ds.takeOut')}</h3>
          <Record ds={one} />
        </section>
      ))}
    </Drawer>
  );
}
