-- Two roles for the service's database: `staging_owner` creates and upgrades the tables; `staging` serves them, and can
-- neither drop nor alter one. Run part 1 as an administrator. The first command of `staging_owner` creates the tables:
--   petstock sandbox keys create --plan pro --database 'postgresql://staging_owner:…@db.example/staging'

-- 1. Before the first start
CREATE ROLE staging_owner LOGIN PASSWORD 'a-long-password';
CREATE ROLE staging LOGIN PASSWORD 'another-long-password';
CREATE DATABASE staging OWNER staging_owner;
REVOKE CONNECT, TEMPORARY ON DATABASE staging FROM PUBLIC;
GRANT CONNECT ON DATABASE staging TO staging;

-- 2. Once the tables exist, as staging_owner in the database staging; again after an upgrade
GRANT USAGE ON SCHEMA petstock_service TO staging;
GRANT SELECT, UPDATE ON petstock_service.service TO staging;
GRANT SELECT, INSERT, UPDATE ON petstock_service.keys TO staging;
GRANT SELECT, INSERT, UPDATE, DELETE ON petstock_service.pets, petstock_service.orders TO staging;
