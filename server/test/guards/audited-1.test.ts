import { audited } from './audited.ts';

audited(1, 2);
