/** The state a site is shown in: that its time is over comes before what it is set to. */
import type { RowOf } from '../kit/client.ts';

export const stateOf = ({ isExpired, status }: Pick<RowOf<'GET /client/sites'>, 'isExpired' | 'status'>) =>
  isExpired ? 'expired' : status;
