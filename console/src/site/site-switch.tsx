/** From the settings of one site to the same section of another. */
import { SwapOutlined } from '@ant-design/icons';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Select } from 'antd';
import { useState } from 'react';
import { area } from '../kit/area.ts';
import { selectProps, useChoices } from '../kit/choices.ts';
import { useCan } from '../kit/permissions.ts';
import { linkTo } from '../kit/screens.ts';
import { t } from '../kit/text.ts';

const list = `GET /${area as 'user'}/sites` as const;
const sites = { from: list, searchBy: 'siteName' };
const notYet = { values: [] };
const none = {};

export function SiteSwitch({ siteID }: { siteID: number }) {
  const can = useCan();
  const navigate = useNavigate();
  // any page's address: which section is open is that of kit/sections.tsx
  const { tab } = useSearch({ strict: false }) as { tab?: string };
  // which others there are is asked when somebody wants one
  const [isWanted, want] = useState(false);
  const found = useChoices(isWanted ? sites : notYet, none);
  const others = found.options.filter(one => one.value !== siteID);
  if (!can(list)) return null;
  return (
    <Select
      className="site-switch"
      prefix={<SwapOutlined className="ink-3" />}
      placeholder={t('site.switch')}
      aria-label={t('site.switch')}
      value={null}
      {...selectProps({ ...found, options: others })}
      notFoundContent={t(found.isPending ? 'page.loading' : 'empty.noMatch')}
      onOpenChange={isOpen => isOpen && want(true)}
      onChange={(id: string | number | null) => {
        const name = others.find(one => one.value === id)?.label;
        if (id === null || name === undefined) return;
        void navigate({ href: `${linkTo('sitesSetting', id, name)!}${tab ? `?tab=${tab}` : ''}` });
      }}
    />
  );
}
