/** The bell: how many notices nobody has read yet, and the way to them. */
import { BellOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { ofArea } from '../kit/of-area.ts';
import { later } from '../kit/later.tsx';
import { overlay } from '../kit/overlay.ts';
import { query } from '../kit/query.ts';
import { withTexts } from '../kit/screens.ts';
import { useSelf } from '../kit/session.ts';
import { t } from '../kit/text.ts';
import { number } from '../kit/units.ts';

const pollMs = 30_000;
const hasNotices = ofArea({ user: true, client: true, admin: false });
const NoticeDrawer = later(withTexts('system', async () => (await import('./notice-drawer.tsx')).NoticeDrawer));

export function Bell() {
  // whoever acts for somebody reads nobody's inbox
  const isAsked = hasNotices && !useSelf().proxyName;
  const found = useQuery({
    ...query('GET /{area}/notices/unread'),
    enabled: isAsked,
    staleTime: 0,
    retry: false,
    refetchInterval: pollMs,
  });
  if (!isAsked) return null;
  const count = found.data?.unread ?? 0;
  const label = count > 0 ? t('bell.unread', { count: number(count) }) : t('bell.title');
  return (
    <Button
      type="text"
      icon={<BellOutlined />}
      aria-label={label}
      title={label}
      onClick={() => void overlay<void>(close => <NoticeDrawer onClose={() => close()} />)}
    >
      {count > 0 && number(count)}
    </Button>
  );
}
