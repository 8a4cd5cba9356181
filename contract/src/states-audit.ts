/** Words of the audit that screens need without the declarations of calls (§3). */
/** What the house itself does has methods of its own: a step of a task, a row that came to its end. CLI: whoever holds its machine. */
export const auditMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TASK', 'EXPIRE', 'TRAFFIC', 'CLI'] as const;
export const auditChangeKinds = ['added', 'changed', 'removed'] as const;
