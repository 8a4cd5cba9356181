/** What an operator holds, and how much of it is used. */
import './licence.css';
import { zeroMeans } from '#contract/limits.ts';
import type { AnswerOf } from '../kit/client.ts';
import { Status } from '../kit/status.tsx';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { number } from '../kit/units.ts';

type Order = AnswerOf<'GET /admin/license/{userId}/order'>;
const counted = [
  ['sites', 'siteLimit'],
  ['nodes', 'nodeLimit'],
  ['zones', 'zoneLimit'],
  ['domains', 'domainLimit'],
  ['autoSSL', 'autoSSLLimit'],
] as const;

export function Held({ order }: { order: Order }) {
  const { kind, state, name, expiredAt, serial, licenseSetting, usage } = order;
  return (
    <div className="licence">
      <p className="licence-head">
        <strong>{name || t(`licenseKind.${kind}`)}</strong>
        <Status value={state} texts="licenseState" />
        <span className="ink-3">
          {expiredAt === null ? t('license.endless') : t('license.until', { time: dateTime(expiredAt) })}
        </span>
      </p>
      {state !== 'valid' && (
        <p className="bad" role="alert">
          {t(`licenseWhy.${state}`)}
        </p>
      )}
      <table className="numbers licence-usage">
        <thead>
          <tr>
            <th scope="col">{t('license.what')}</th>
            <th scope="col">{t('license.used')}</th>
            <th scope="col">{t('license.allowed')}</th>
          </tr>
        </thead>
        <tbody>
          {counted.map(([what, limit]) => {
            const max = licenseSetting[limit];
            return (
              <tr key={what}>
                <td>{t(`license.${what}`)}</td>
                <td className={max > 0 && usage[what] > max ? 'bad' : undefined}>{number(usage[what])}</td>
                <td>{max === 0 ? t(`unit.${zeroMeans.licenseLimit}`) : number(max)}</td>
              </tr>
            );
          })}
          <tr>
            <td>{t('field.portType')}</td>
            <td />
            <td>{t(`portType.${licenseSetting.portType}`)}</td>
          </tr>
        </tbody>
      </table>
      {serial && <p className="ink-3">{t('license.serial', { serial })}</p>}
    </div>
  );
}
