/** One month of a customer and a product: its bar, its days, and each of them as a figure. */
import { Drawer } from 'antd';
import type { trafficExceededActions } from '#contract/limits.ts';
import { Facts } from '../kit/bits.tsx';
import { Status } from '../kit/status.tsx';
import { t } from '../kit/text.ts';
import { dateTime } from '../kit/time.ts';
import { bytes, number } from '../kit/units.ts';
import { Axis, Days, monthOf, Used, type Usage } from './used.tsx';

interface Month extends Usage {
  productName: string;
  extraBytes: number;
  action: (typeof trafficExceededActions)[number];
  state: string;
  startTime: string;
  endTime: string;
  countedAt: string | null;
  isOpen: boolean;
}
const widthPx = 560;
const daysPx = 140;

export function MonthDrawer({ month, onClose }: { month: Month; onClose: () => void }) {
  return (
    <Drawer open title={`${month.productName} · ${monthOf(month)}`} size={widthPx} mask={{ blur: false }} onClose={onClose}>
      <Used usage={month} />
      <div style={{ margin: '16px 0' }}>
        <Days usage={month} height={daysPx} />
        {month.days.length > 0 && <Axis usage={month} />}
      </div>
      <Facts
        facts={[
          [t('field.state'), <Status key="state" value={month.state} texts="trafficState" />],
          [t('field.trafficThen'), t(`trafficThen.${month.action}`)],
          [t('traffic.base'), month.baseBytes === 0 ? t('unit.unlimited') : bytes(month.baseBytes)],
          [t('traffic.extra'), bytes(month.extraBytes)],
          [t('traffic.exact'), number(month.bytes)],
          [t('traffic.span'), `${dateTime(month.startTime)} – ${dateTime(month.endTime)}`],
          [t('traffic.counted'), month.countedAt === null ? t('traffic.notYet') : dateTime(month.countedAt)],
          [t('traffic.settled'), t(month.isOpen ? 'monthOpen.true' : 'monthOpen.false')],
        ]}
      />
      {month.days.length > 0 && (
        <table className="day-table">
          <thead>
            <tr>
              <th>{t('field.day')}</th>
              <th>{t('field.bytes')}</th>
              <th>{t('traffic.inBytes')}</th>
            </tr>
          </thead>
          <tbody>
            {month.days.map((value, index) => (
              // the place is the day
              // oxlint-disable-next-line react/no-array-index-key
              <tr key={index}>
                <td>{`${monthOf(month)}/${String(index + 1).padStart(2, '0')}`}</td>
                <td>{bytes(value)}</td>
                <td>{number(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Drawer>
  );
}
