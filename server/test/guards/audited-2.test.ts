import { audited } from './audited.ts';

audited(2, 2);
