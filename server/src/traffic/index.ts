/** The implementations of this folder; a further one is one line. */
export { ownPlanCalls, planCalls } from './plans.ts';
export { ownUsageCalls, usageCalls } from './usages.ts';
