/**
 * A chart whose window moves on with each answer. It stands still while somebody looks closely: the pointer or the focus is in it, a part
 * is zoomed in, or it was paused by its button, for a finger neither points nor stays.
 */
import { CaretRightOutlined, PauseOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { useState } from 'react';
import { type ChartProps, TimeChart } from './chart.tsx';
import { t } from './text.ts';

type Figures = Pick<ChartProps, 'times' | 'series' | 'isRunning' | 'summary'>;

export function LiveChart(props: Omit<ChartProps, 'extra' | 'onSight'>) {
  const { times, series, isRunning, summary } = props;
  const [isPaused, pause] = useState(false);
  const [isNear, setNear] = useState({ pointer: false, focus: false, sight: false });
  const near = (part: Partial<typeof isNear>) => setNear(was => ({ ...was, ...part }));
  const isHeld = isPaused || isNear.pointer || isNear.focus || isNear.sight;
  const [shown, show] = useState<Figures>({ times, series, isRunning, summary });
  const isBehind = shown.times !== times || shown.series !== series;
  // what is on its way, or failed, is said at once: there is nothing to look at
  if (isBehind && (!isHeld || !times || !shown.times)) show({ times, series, isRunning, summary });
  return (
    <div
      onPointerEnter={event => event.pointerType === 'mouse' && near({ pointer: true })}
      onPointerLeave={() => near({ pointer: false })}
      onFocus={() => near({ focus: true })}
      onBlur={event => !event.currentTarget.contains(event.relatedTarget) && near({ focus: false })}
    >
      <TimeChart
        {...props}
        {...shown}
        onSight={sight => near({ sight: sight !== undefined })}
        extra={
          <>
            {shown.times && !props.error && (
              <span className="chart-live" data-held={isHeld}>
                {t(isHeld ? (isBehind ? 'chart.pausedNew' : 'chart.paused') : 'chart.live')}
              </span>
            )}
            <Button
              type="text"
              size="small"
              icon={isPaused ? <CaretRightOutlined /> : <PauseOutlined />}
              aria-label={t(isPaused ? 'chart.resume' : 'chart.pause')}
              title={t(isPaused ? 'chart.resume' : 'chart.pause')}
              onClick={() => {
                pause(!isPaused);
                // whoever presses it to go on is still there with pointer and focus
                if (isPaused) near({ pointer: false, focus: false });
              }}
            />
          </>
        }
      />
    </div>
  );
}
