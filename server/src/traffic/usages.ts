/** What was used of each product, month by month (work/traffic.ts counts it). */
import { trafficBounds, units } from '#contract/limits.ts';
import { monthlyUsages, ownMonthlyUsages } from '#contract/traffic/usages.ts';
import { implement } from '../kit/implement.ts';
import { wholeOf } from '../kit/traffic-plan.ts';
import { ownUsageTable, type UsageRow, usageTable } from './tables.ts';

/** Lines that are older are counted for nobody. */
const lateMs = trafficBounds.lateDays * 86_400_000;

const told = (row: UsageRow) => {
  const { id, userID, userEmail, productID, productName, year, month, startTime, endTime } = row;
  const { days, bytes, baseBytes, extraBytes, action, state, isCurrent, countedAt, countedTo } = row;
  return {
    id,
    userID,
    userEmail,
    productID,
    productName,
    year,
    month,
    startTime,
    endTime,
    days,
    bytes,
    baseBytes,
    extraBytes,
    planBytes: wholeOf(baseBytes, extraBytes),
    action,
    state,
    isCurrent,
    countedAt,
    isOpen: countedTo === null || Date.parse(countedTo) < Date.parse(endTime) + lateMs,
  };
};

const gigabyte = units.trafficUnitBase ** 3;
const amountOf = ({ sellType, trafficPrice, bytes }: UsageRow) =>
  sellType === 'usage' ? Number(((bytes / gigabyte) * trafficPrice).toFixed(6)) : null;

export const usageCalls = implement(monthlyUsages, {
  'GET /monthlyUsages': async ({ ctx, query }) => {
    const { data, total } = await ctx.store(usageTable).page(query);
    const sold = (row: UsageRow) => ({ sellType: row.sellType, trafficPrice: row.trafficPrice, amount: amountOf(row) });
    return { data: data.map(row => ({ ...told(row), ...sold(row) })), total };
  },
});

export const ownUsageCalls = implement(ownMonthlyUsages, {
  'GET /monthlyUsages': async ({ ctx, query }) => {
    const { data, total } = await ctx.store(ownUsageTable).page(query);
    return { data: data.map(told), total };
  },
});
