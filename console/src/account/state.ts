/** Which action an account's state allows (contract states), and in the reader's words why not. */
import { accountActions, can, reasonText } from '#contract/states.ts';
import type { RowOf } from '../kit/client.ts';
import { ofArea } from '../kit/of-area.ts';
import { linkTo } from '../kit/screens.ts';
import { language, t } from '../kit/text.ts';

export type Account = RowOf<'GET /{area}/accounts'>;

const authNames = { user: 'message.authUser', client: 'message.authClient', admin: 'message.authAdmin' } as const;
/** What a kind of account is called where something is said of one (§8). */
export const authName = ({ auth }: Pick<Account, 'auth'>) => t(authNames[auth]);

/** Why one may not act as an account: the server says it with each row, and refuses by the same rule. */
export const whyOwn = ({ actAsDenied }: Account): string | undefined => (actAsDenied ? t(`denied.${actAsDenied}`) : undefined);

export const why = (action: keyof typeof accountActions) => (account: Account) => {
  const own = whyOwn(account);
  if (own) return own;
  const answer = can(accountActions, action, account.status);
  return answer === true ? undefined : reasonText(answer, language);
};

/** The list of accounts, by the name that its page has in this area. */
export const accountsPage = () => linkTo(ofArea({ user: 'usersList', client: 'users', admin: 'usersList' }))!;
