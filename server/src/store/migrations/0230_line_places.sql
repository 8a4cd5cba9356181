-- Continents (`continent:AS`), countries (`TW`) and regions (`TW-TPE`) whose visitors a line is for.
alter table line add column places text[] not null default '{}';
