import { foreignOperator } from './foreign-operator.ts';

foreignOperator(1, 2);
