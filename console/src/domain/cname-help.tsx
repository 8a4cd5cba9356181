/** How a record is made where the customer keeps its DNS: what is typed, each with a button, and what is special there. */
import { Select } from 'antd';
import { useId, useState } from 'react';
import { Facts } from '../kit/bits.tsx';
import { Copied } from '../kit/copy.tsx';
import { stored } from '../kit/stored.ts';
import { t } from '../kit/text.ts';
import { recordAsked, type Registrar, registrarOf, registrars, servedBy } from './registrars.ts';

const selectPx = 320;
/** Whoever has many domains keeps most of them in one place: where nobody knows who serves this one. */
const last = stored('cname.registrar');
const copied = (text: string) => <Copied text={text} />;

export function CnameHelp({ domainName, cname, servers }: { domainName: string; cname: string; servers: readonly string[] }) {
  const id = useId();
  const [chosen, setChosen] = useState<Registrar>();
  const registrar = chosen ?? servedBy(servers) ?? registrarOf(last.get());
  const { zone, host, isTop, type, target, top } = recordAsked(registrar, domainName, cname);
  function choose(next: Registrar) {
    setChosen(next);
    last.set(next);
  }
  return (
    <>
      <p className="ink-2">{t('cname.text')}</p>
      <p style={{ margin: '12px 0' }}>
        <label htmlFor={id}>{t('cname.where')}</label>
        <br />
        <Select<Registrar>
          id={id}
          value={registrar}
          style={{ width: selectPx, maxWidth: '100%' }}
          options={registrars.map(value => ({ value, label: t(`registrar.${value}`) }))}
          onChange={choose}
        />
      </p>
      {isTop && (
        <p role="note">
          {t('cname.isTop', { zone })} {t(`cnameTop.${top}`, { zone })}
        </p>
      )}
      {type !== null && (
        <>
          <Facts
            facts={[
              [t('cname.type'), type],
              [t('cname.host'), copied(host)],
              [t('cname.name'), copied(domainName)],
              [t('cname.value'), copied(target)],
            ]}
          />
          <h3 style={{ marginTop: 24 }}>{t('cname.how')}</h3>
          <ol>
            <li>{t(`cnameWhere.${registrar}`, { zone })}</li>
            <li>{t(isTop ? 'cname.help.usualTop' : 'cname.help.usual')}</li>
            <li>{t(`cnameNote.${registrar}`, { host })}</li>
            {!isTop && <li>{t('cname.help.top', { zone, how: t(`cnameTop.${top}`, { zone }) })}</li>}
            <li>{t('cname.help.time')}</li>
          </ol>
          <p className="ink-3">{t('cname.menus')}</p>
        </>
      )}
    </>
  );
}
