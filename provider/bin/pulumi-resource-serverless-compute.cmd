@echo off
node "%~dp0..\dist\plugin.js" %*
