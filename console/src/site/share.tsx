/** Which of a customer's sub-accounts see a site: they are chosen and taken off here, for one site or several at once. */
import { useQuery } from '@tanstack/react-query';
import { Drawer } from 'antd';
import { useEffect, useState } from 'react';
import { Status } from '../kit/bits.tsx';
import { call, type RowOf } from '../kit/client.ts';
import { type Member, Members } from '../kit/members.tsx';
import { ofArea } from '../kit/of-area.ts';
import { present } from '../kit/present.tsx';
import { mayLeave } from '../kit/leaving.ts';
import { useAction } from '../kit/query.ts';
import { rowsOf } from '../kit/row-search.ts';
import { t } from '../kit/text.ts';
import { shareNeeds } from './share-needs.ts';

type Site = RowOf<'GET /client/sites'>;
type Account = RowOf<'GET /{area}/account/{id}/subs'>;
/** Sites and who sees them, as far as this drawer knows. */
type Seen = ReadonlyMap<number, readonly number[]>;

const [below, give, take] = shareNeeds;
const oneSite = ofArea({ user: 'GET /user/site/{siteID}', client: 'GET /client/site/{siteID}' });

const widthPx = 560;

export function ShareDrawer({ sites, onClose }: { sites: readonly Site[]; onClose: () => void }) {
  const [seen, setSeen] = useState<Seen>(() => new Map(sites.map(site => [site.id, site.users])));
  // the list may be older than what somebody did since
  useEffect(() => {
    Promise.all(sites.map(site => call(oneSite, { siteID: site.id }))).then(
      rows => setSeen(new Map(rows.map(row => [row.id, row.users]))),
      (error: unknown) => void present(error),
    );
    // oxlint-disable-next-line react/exhaustive-deps -- when it opens
  }, []);
  // whom somebody chose and has not given yet
  const close = () => void mayLeave().then(isSure => isSure && onClose());
  const customers = Map.groupBy(sites, site => site.userID);
  return (
    <Drawer
      open
      title={sites.length === 1 ? t('share.title', { name: sites[0]!.siteName }) : t('share.titleMany', { count: sites.length })}
      size={widthPx}
      mask={{ blur: false }}
      onClose={close}
    >
      <p>{t('share.visible')}</p>
      <p className="ink-3 share-text">{t('share.withdrawing')}</p>
      {[...customers].map(([customerID, its]) => (
        <Customer key={customerID} sites={its} isListed={sites.length > 1} seen={seen} setSeen={setSeen} />
      ))}
    </Drawer>
  );
}

interface CustomerProps {
  /** Of one customer. */
  sites: readonly Site[];
  /** Which sites they are is said: the title names one alone. */
  isListed: boolean;
  seen: Seen;
  setSeen: (next: (seen: Seen) => Seen) => void;
}

/** A site is shown to accounts of its own customer alone. */
function Customer({ sites, isListed, seen, setSeen }: CustomerProps) {
  const { userID: customerID, userEmail } = sites[0]!;
  const siteIDs = sites.map(site => site.id);
  const countOf = (id: number) => siteIDs.filter(siteID => seen.get(siteID)?.includes(id)).length;
  const shown = [...new Set(siteIDs.flatMap(siteID => seen.get(siteID) ?? []))].sort((a, b) => a - b);
  const people = useQuery({
    queryKey: ['seeing', below, customerID, shown],
    queryFn: () => rowsOf<Account>(below, { id: customerID, query: { sortBy: 'email', orderBy: 'asc' } }, shown),
    // a name that was read stays while the next list is on its way
    placeholderData: before => before,
  });
  const added = useAction(give, { success: t('message.assignSiteSuccess') });
  const withdrawn = useAction(take, { success: t('share.withdrawn') });

  const known = (ids: number[], isShown: boolean) =>
    setSeen(
      seen =>
        new Map(
          [...seen].map(([siteID, users]) => {
            if (!siteIDs.includes(siteID)) return [siteID, users];
            const others = users.filter(user => !ids.includes(user));
            return [siteID, isShown ? [...others, ...ids] : others];
          }),
        ),
    );
  async function change(action: typeof added, ids: number[], isShown: boolean) {
    const isDone = (await action.run({ body: { siteIDs, userIDs: ids } })) !== undefined;
    if (isDone) known(ids, isShown);
    return isDone;
  }

  const memberOf = (account: Account): Member => {
    const count = countOf(account.id);
    return {
      id: account.id,
      name: account.email,
      note: (
        <>
          {account.name !== account.email && <span>{account.name}</span>}
          {count < sites.length && <span>{t('share.some', { count, total: sites.length })}</span>}
          {account.roleID === null && <span>{t('share.noRole')}</span>}
          {account.status !== 'normal' && <Status value={account.status} />}
        </>
      ),
      why: deniedOf(account),
    };
  };
  return (
    <section className="share" aria-label={userEmail}>
      <h2 className="section-title">{t('share.of', { email: userEmail })}</h2>
      {isListed && <p className="ink-3 share-sites">{sites.map(site => site.siteName).join(t('share.comma'))}</p>}
      <Members
        members={people.data?.filter(account => shown.includes(account.id)).map(memberOf)}
        error={people.error}
        onRetry={() => void people.refetch()}
        choices={{
          from: below,
          query: { sortBy: 'email', orderBy: 'asc' },
          searchBy: 'name',
          text: row => String(row['email']),
          why: row =>
            countOf((row as unknown as Account).id) === sites.length ? t('share.already') : deniedOf(row as unknown as Account),
        }}
        params={{ id: customerID }}
        label={t('share.choose')}
        give={t('share.give')}
        take={t('share.take')}
        empty={t('share.nobody')}
        noChoices={t('share.noAccounts')}
        onGive={ids => change(added, ids, true)}
        onTake={id => change(withdrawn, [id], false)}
      />
    </section>
  );
}

const deniedOf = ({ actAsDenied }: Account) => (actAsDenied ? t(`denied.${actAsDenied}`) : undefined);
