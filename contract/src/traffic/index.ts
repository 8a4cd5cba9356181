/** The groups of calls of this folder; a further one is one line. */
export { extraTrafficPlans, ownTrafficPlans } from './plans.ts';
export { monthlyUsages, ownMonthlyUsages } from './usages.ts';
