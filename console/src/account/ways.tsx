/** Ways of one's own to sign in (passkeys, links of an identity provider): their rows. */
import { Button } from 'antd';
import type { ReactNode } from 'react';
import { t } from '../kit/text.ts';
import { dateMinute } from '../kit/time.ts';

interface Way {
  id: number;
  name: string;
  createdAt: string;
  lastUsedAt: string | null;
}
export function Ways<W extends Way>({
  ways,
  where,
  beside,
  onRemove,
}: {
  ways: readonly W[];
  where: (way: W) => string;
  beside?: (way: W) => ReactNode;
  onRemove: (way: W) => void;
}) {
  return (
    <ul className="rows members">
      {ways.map(one => (
        <li key={one.id}>
          <span className="grow member">
            <span>
              {one.name} {beside?.(one)}
            </span>
            <small className="ink-3">{where(one)}</small>
            <small className="ink-3">
              {one.lastUsedAt
                ? t('passkeys.times', { since: dateMinute(one.createdAt), used: dateMinute(one.lastUsedAt) })
                : t('passkeys.unused', { since: dateMinute(one.createdAt) })}
            </small>
          </span>
          <Button size="small" aria-label={`${t('passkeys.remove')}: ${one.name}`} onClick={() => onRemove(one)}>
            {t('passkeys.remove')}
          </Button>
        </li>
      ))}
    </ul>
  );
}
